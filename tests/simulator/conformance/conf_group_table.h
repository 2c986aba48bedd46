/* SPDX-License-Identifier: Apache-2.0
 *
 * The groups of facts: CONF_GROUP(name); each is int conf_<name>(void) in
 * conf_<name>.c and a ctest of its own. No include guard. */
CONF_GROUP(device)

/* SPDX-License-Identifier: Apache-2.0
 *
 * The groups of facts: CONF_GROUP(name); each is int conf_<name>(void) in
 * conf_<name>.c and a ctest of its own. Run in this order when none is named: those
 * that need the runtime not to have begun stand first. No include guard. */
CONF_GROUP(context)
CONF_GROUP(device)
CONF_GROUP(stream)
CONF_GROUP(event)
CONF_GROUP(arrays)
CONF_GROUP(memory)
CONF_GROUP(copy)
CONF_GROUP(managed)
CONF_GROUP(pool)
CONF_GROUP(error)
CONF_GROUP(launch)
CONF_GROUP(host)
CONF_GROUP(pointer)
CONF_GROUP(vmm)
CONF_GROUP(residency)
CONF_GROUP(ipc)
CONF_GROUP(cupti)
CONF_GROUP(capture)
CONF_GROUP(graphs)
CONF_GROUP(graph_memory)
CONF_GROUP(peers)
CONF_GROUP(memops)
CONF_GROUP(visible)

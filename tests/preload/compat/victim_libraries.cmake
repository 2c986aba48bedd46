# SPDX-License-Identifier: Apache-2.0
# What single victims link with, or load, beside the runtime: TARGET is each of
# victim_NAME_shared and victim_NAME_static.

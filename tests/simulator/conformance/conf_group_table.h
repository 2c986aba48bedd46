/* SPDX-License-Identifier: Apache-2.0
 *
 * The groups of facts: CONF_GROUP(NAME, BEGIN, NEEDED); NAME is that of conf_NAME.c and a ctest of
 * its own. BEGIN: whether the primary context of device 0 is current, for the runtime and the
 * driver, when the group begins. NEEDED: the attribute of device 0 without which the group is left
 * out, or 0. Run in this order when none is named: those that need the runtime not to have begun
 * stand first. No include guard. */
CONF_GROUP(context, false, 0)
CONF_GROUP(device, false, 0)
CONF_GROUP(stream, true, 0)
CONF_GROUP(event, true, 0)
CONF_GROUP(arrays, true, 0)
CONF_GROUP(textures, true, 0)
CONF_GROUP(memory, true, 0)
CONF_GROUP(copy, true, 0)
CONF_GROUP(managed, true, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY)
CONF_GROUP(pool, true, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)
CONF_GROUP(error, true, 0)
CONF_GROUP(runtime, true, 0)
CONF_GROUP(lookup, true, 0)
CONF_GROUP(launch, true, 0)
CONF_GROUP(host, true, 0)
CONF_GROUP(pointer, true, 0)
CONF_GROUP(vmm, true, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED)
CONF_GROUP(ipc, true, 0)
CONF_GROUP(cupti, true, 0)
CONF_GROUP(capture, true, 0)
CONF_GROUP(graphs, true, 0)
CONF_GROUP(graph_memory, true, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)
CONF_GROUP(peers, false, 0)
CONF_GROUP(memops, true, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS)
CONF_GROUP(visible, false, 0)
CONF_GROUP(attributes, true, 0)

/* SPDX-License-Identifier: Apache-2.0
 *
 * The verbs of the `vramscope` command, in the order of its help. VS_VERB(name): the verb is
 * vs_cmd_name, defined in its own file cmd_name.c. No include guard: included with VS_VERB defined
 * by each user. */
VS_VERB(run)
VS_VERB(attach)
VS_VERB(fit)
VS_VERB(advise)
VS_VERB(view)
VS_VERB(top)
VS_VERB(report)
VS_VERB(oom)
VS_VERB(check)
VS_VERB(diff)
VS_VERB(export)
VS_VERB(merge)
VS_VERB(import)
VS_VERB(symbolize)
VS_VERB(recover)
VS_VERB(index)
VS_VERB(replay)
VS_VERB(estimate)
VS_VERB(doctor)
VS_VERB(options)

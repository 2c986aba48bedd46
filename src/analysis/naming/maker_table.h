/* SPDX-License-Identifier: Apache-2.0
 *
 * The rules of makers: VS_MAKER_RULE(path, function, maker). A Python frame is of a rule if its
 * file's path contains *path* and one of the words of *function* ("" for any) is the last part of
 * its function's name, after a dot if there is one. The first rule that fits counts; NONE: the next outer
 * frame decides. Functions named `forward` and `__init__` outside of these files have rules of their own
 * (maker.c). No include guard: the user defines the macro and includes it. */

/* optimizers; any optimizer's step runs inside a function of torch/optim/optimizer.py */
VS_MAKER_RULE("/torch/optim/swa_utils.py", "", MODULE)
VS_MAKER_RULE("/torch/optim/", "_init_group load_state_dict add_param_group "
              "_process_value_according_to_param_policy _init_state", STATE)
VS_MAKER_RULE("/torch/optim/", "", OPTIMIZER)
VS_MAKER_RULE("/torch/amp/grad_scaler.py", "scale apply_scale", FORWARD)
VS_MAKER_RULE("/torch/amp/grad_scaler.py", "", OPTIMIZER)
VS_MAKER_RULE("/torch/cuda/amp/grad_scaler.py", "", OPTIMIZER)
VS_MAKER_RULE("/transformers/optimization.py", "", OPTIMIZER)
VS_MAKER_RULE("/bitsandbytes/optim/", "init_state get_state_buffer", STATE)
VS_MAKER_RULE("/bitsandbytes/optim/", "", OPTIMIZER)
VS_MAKER_RULE("/apex/optimizers/", "", OPTIMIZER)
VS_MAKER_RULE("/deepspeed/ops/", "step", OPTIMIZER)
VS_MAKER_RULE("/optimizer.py", "step", OPTIMIZER) /* the program's own, of torch or not */
VS_MAKER_RULE("/optimizers.py", "step", OPTIMIZER)
VS_MAKER_RULE("/torch/nn/utils/clip_grad.py", "", PASSING)

/* wrappers of modules for several devices */
VS_MAKER_RULE("/torch/nn/parallel/distributed.py", "_ddp_init_helper _pre_forward", BUCKET)
VS_MAKER_RULE("/torch/nn/parallel/distributed.py", "forward _run_ddp_forward", FORWARD)
VS_MAKER_RULE("/torch/nn/parallel/distributed.py", "", PASSING)
VS_MAKER_RULE("/torch/distributed/utils.py", "_recursive_to _to_kwargs to_map", INPUT)
VS_MAKER_RULE("/torch/distributed/utils.py", "_sync_params_and_buffers _sync_module_states",
              PASSING)
VS_MAKER_RULE("/_fsdp_collectives.py", "foreach_reduce _get_gradient_divide_factors "
              "_foreach_reduce", BACKWARD)
VS_MAKER_RULE("/_fsdp_collectives.py", "allocate", NONE)
VS_MAKER_RULE("/_fsdp_collectives.py", "", PASSING)
VS_MAKER_RULE("/_fsdp_param.py", "init_all_gather_outputs alloc_all_gather_outputs "
              "init_unsharded_param all_gather_inputs", PASSING)
VS_MAKER_RULE("/_fsdp_param.py", "__init__ _init_sharded_param reset_sharded_param "
              "_init_sharded_post_forward_param_metadata to_sharded_dtensor", MODULE)
VS_MAKER_RULE("/_fsdp_param.py", "to_accumulated_grad_if_needed accumulate_unsharded_grad_if_needed",
              BACKWARD)
VS_MAKER_RULE("/torch/distributed/fsdp/_flat_param.py", "flatten_tensors __init__ shard "
              "_init_flat_param_and_metadata flatten_tensors_into_flat_param init_flat_param_attributes",
              MODULE)
VS_MAKER_RULE("/torch/distributed/fsdp/_flat_param.py", "unshard pre_unshard needs_unshard "
              "_alloc_padded_unsharded_flat_param _all_gather_flat_param", PASSING)
VS_MAKER_RULE("/torch/distributed/fsdp/_init_utils.py", "", MODULE)
VS_MAKER_RULE("/torch/distributed/fsdp/_runtime_utils.py", "_post_backward_hook _reduce_grad "
              "_get_reduce_scatter_tensors _reduce_grad_no_shard", BACKWARD)
VS_MAKER_RULE("/deepspeed/runtime/zero/", "setup_buckets _setup_for_real_optimizer", BUCKET)
VS_MAKER_RULE("/torch/distributed/distributed_c10d.py", "", PASSING)

/* modules: parameters and buffers */
VS_MAKER_RULE("/torch/nn/parameter.py", "", MODULE)
VS_MAKER_RULE("/torch/nn/init.py", "", MODULE)
VS_MAKER_RULE("/torch/nn/modules/module.py", "_call_impl _wrapped_call_impl inner", FORWARD)
VS_MAKER_RULE("/torch/nn/modules/module.py", "", MODULE)
VS_MAKER_RULE("/torch/nn/modules/transformer.py", "_generate_square_subsequent_mask "
              "generate_square_subsequent_mask", INPUT)
VS_MAKER_RULE("/torch/distributed/tensor/", "parallelize_module distribute_module", MODULE)
VS_MAKER_RULE("/torch/nn/modules/", "__init__ reset_parameters _reset_parameters reset_running_stats "
              "__setstate__", MODULE)
VS_MAKER_RULE("/torch/nn/modules/", "", FORWARD)
VS_MAKER_RULE("/torch/nn/functional.py", "", FORWARD)
VS_MAKER_RULE("/torch/nn/attention/", "", FORWARD)
VS_MAKER_RULE("/torch/_tensor.py", "__deepcopy__", MODULE)
VS_MAKER_RULE("/torch/serialization.py", "", MODULE)
VS_MAKER_RULE("/safetensors/", "", MODULE)
VS_MAKER_RULE("/transformers/core_model_loading.py", "", MODULE)
VS_MAKER_RULE("/transformers/initialization.py", "", MODULE)
VS_MAKER_RULE("/transformers/modeling_utils.py", "from_pretrained _load_pretrained_model "
              "_load_state_dict_into_meta_model load_shard_files load_shard_file init_weights "
              "_init_weights _initialize_weights initialize_weights smart_apply post_init", MODULE)
VS_MAKER_RULE("/diffusers/models/model_loading_utils.py", "", MODULE)
VS_MAKER_RULE("/accelerate/utils/modeling.py", "", MODULE)
VS_MAKER_RULE("/accelerate/big_modeling.py", "", MODULE)
VS_MAKER_RULE("/peft/", "__init__ update_layer reset_lora_parameters", MODULE)
VS_MAKER_RULE("/bitsandbytes/nn/", "cuda to _quantize __init__", MODULE)

/* autograd */
VS_MAKER_RULE("/torch/autograd/__init__.py", "_make_grads", PASSING)
VS_MAKER_RULE("/torch/autograd/__init__.py", "backward grad", BACKWARD)
VS_MAKER_RULE("/torch/autograd/function.py", "BackwardCFunction.apply apply_boxed", BACKWARD)
VS_MAKER_RULE("/torch/autograd/graph.py", "_engine_run_backward", BACKWARD)
VS_MAKER_RULE("/torch/_functorch/_aot_autograd/", "backward _backward_impl impl_fn "
              "call_compiled_backward", BACKWARD)

/* torch.compile: measurements while it compiles, then the compiled function */
VS_MAKER_RULE("/torch/_inductor/runtime/", "", PASSING)
VS_MAKER_RULE("/torch/_inductor/select_algorithm.py", "", PASSING)
VS_MAKER_RULE("/torch/_inductor/autotune_process.py", "", PASSING)
VS_MAKER_RULE("/triton/testing.py", "", PASSING)
VS_MAKER_RULE("/torch/_dynamo/eval_frame.py", "compile_wrapper", FORWARD)

/* inference engines: the KV cache, made before any forward code runs */
VS_MAKER_RULE("/vllm/v1/worker/", "allocate_kv_cache initialize_kv_cache_tensors", KV_CACHE)

/* inputs */
VS_MAKER_RULE("/torch/utils/data/", "", INPUT)
VS_MAKER_RULE("/transformers/trainer.py", "_prepare_input _prepare_inputs", INPUT)
VS_MAKER_RULE("/transformers/tokenization_utils_base.py", "to", INPUT)
VS_MAKER_RULE("/transformers/feature_extraction_utils.py", "to", INPUT)
VS_MAKER_RULE("/accelerate/utils/operations.py", "send_to_device", INPUT)
VS_MAKER_RULE("/lightning/fabric/utilities/apply_func.py", "", INPUT)
VS_MAKER_RULE("/lightning_fabric/utilities/apply_func.py", "", INPUT)
VS_MAKER_RULE("/torchvision/transforms/", "", INPUT)
VS_MAKER_RULE("/diffusers/schedulers/", "", INPUT)

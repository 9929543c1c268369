# SPDX-License-Identifier: Apache-2.0
"""More models for public_models.py, of families that zoo.py has not: its entries, in small configurations."""
import torch

from zoo import BATCH, Wrapped, decoder, encoder, ids, image


def timm_newer():
    import timm

    for name, size in {"botnet26t_256": 256, "halonet26t": 256, "lambda_resnet26t": 256, "sebotnet33ts_256": 256, "bat_resnext26ts": 256, "gcresnet33ts": 64, "caformer_s18": 64,
                       "convformer_s18": 64, "cspresnet50": 64, "cspdarknet53": 64, "dla34": 64, "dpn48b": 64, "ese_vovnet19b_dw": 64, "efficientvit_m0": 224, "efficientformerv2_s0": 224,
                       "fasternet_t0": 64, "flexivit_small": 240, "hgnetv2_b0": 64, "hardcorenas_a": 64, "inception_resnet_v2": 160, "inception_v4": 160, "lcnet_050": 64, "mambaout_femto": 64,
                       "mobileone_s0": 64, "nextvit_small": 224, "nf_regnet_b0": 64, "nasnetalarge": 96, "pnasnet5large": 96, "rdnet_tiny": 64, "repghostnet_050": 64, "repvit_m0_9": 64,
                       "resnetv2_50": 64, "sam2_hiera_tiny": 224, "samvit_base_patch16_224": 224, "selecsls42b": 64, "shvit_s1": 64, "skresnet18": 64, "starnet_s1": 64, "swiftformer_xs": 64,
                       "swin_s3_tiny_224": 224, "swinv2_cr_tiny_ns_224": 224, "tf_mixnet_s": 64, "tiny_vit_5m_224": 224, "tresnet_m": 64, "twins_svt_small": 224, "vitamin_small_224": 224,
                       "vit_relpos_small_patch16_224": 224, "xception41": 64, "iformer_t": 64, "efficientvim_m1": 64, "cspnext_tiny": 64, "lowformer_b0": 64}.items():
        yield "timm_" + name, lambda name=name: timm.create_model(name), image(size), BATCH


def vision_newer():
    from torchvision import models
    from torchvision.models import detection, optical_flow, video

    clip = lambda frames, size: lambda: (torch.randn(2, 3, frames, size, size),)
    yield "swin3d_t", lambda: video.SwinTransformer3d([2, 4, 4], 12, [1, 1], [2, 2], [2, 4, 4], num_classes=10), clip(4, 32), BATCH
    yield "mvit_v2_s", lambda: video.mvit_v2_s(), clip(16, 224), None
    raft = lambda: Wrapped(optical_flow.raft_large(), lambda m, a, b: m(a, b, num_flow_updates=2))
    yield "raft_large", raft, lambda: (torch.randn(1, 3, 128, 128), torch.randn(1, 3, 128, 128)), None
    wide = lambda m, x: (lambda found: tuple(one[key] for one in found for key in ("boxes", "scores", "labels")))(m(list(x)))
    for name in ("fasterrcnn_mobilenet_v3_large_320_fpn", "fasterrcnn_resnet50_fpn_v2", "retinanet_resnet50_fpn_v2", "fcos_resnet50_fpn", "ssd300_vgg16", "ssdlite320_mobilenet_v3_large",
                 "maskrcnn_resnet50_fpn", "keypointrcnn_resnet50_fpn"):
        yield name, lambda name=name: Wrapped(getattr(detection, name)(weights=None, weights_backbone=None, **({} if name.startswith("ssd") else {"min_size": 96, "max_size": 128})), wide), image(96, batch=1), None
    for name in ("densenet161", "resnext101_32x8d", "regnet_y_3_2gf", "mnasnet1_3", "vgg19"):
        yield name, lambda name=name: getattr(models, name)(), image(64), BATCH


def decoders_newer():
    import transformers as t

    small = lambda name, **words: (name.lower(), *decoder(t, name + "Config", name + "ForCausalLM", **words))
    for name in ("Olmo", "Olmo3", "Helium", "Ernie4_5", "Exaone4", "SeedOss", "VaultGemma", "Arcee", "Apertus", "DiffLlama", "Cohere2", "Glm4", "BitNet", "HunYuanDenseV1", "Ministral", "NanoChat",
                 "Jais2", "CwmText" if hasattr(t, "CwmTextConfig") else "Cwm", "GptBigCode" if hasattr(t, "GptBigCodeConfig") else "GPTBigCode"):
        if hasattr(t, name + "Config"):
            yield small(name, **({"sliding_window": 8, **({"head_dim": 8} if name == "Ministral" else {})} if name in ("Olmo3", "Exaone4", "Cohere2", "Ministral") else {"head_dim": 8} if name in ("Helium", "HunYuanDenseV1") else {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64} if name == "GPTBigCode" else {}))
    experts = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}
    routed = {"n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "n_group": 1, "topk_group": 1, "n_shared_experts": 1, "first_k_dense_replace": 1}
    yield small("Dots1", **routed)
    yield small("Glm4Moe", **routed)
    yield small("GraniteMoe", num_local_experts=4, num_experts_per_tok=2)
    yield small("GraniteMoeShared", num_local_experts=4, num_experts_per_tok=2, shared_intermediate_size=16)
    yield small("JetMoe", num_local_experts=4, num_experts_per_tok=2, kv_channels=8)
    yield "phimoe", *decoder(t, "PhimoeConfig", "PhimoeForCausalLM", num_local_experts=4, num_experts_per_tok=2)
    yield small("Ernie4_5_Moe", moe_num_experts=4, moe_k=2, moe_intermediate_size=16)
    yield small("FlexOlmo", num_experts=4, num_experts_per_tok=2)
    yield small("MiniMax", num_local_experts=4, num_experts_per_tok=2, head_dim=8, block_size=4, layer_types=["linear_attention", "full_attention"])
    yield small("Lfm2", layer_types=["conv", "full_attention"])
    yield small("Qwen3Next", head_dim=8, layer_types=["linear_attention", "full_attention"], linear_num_key_heads=2, linear_num_value_heads=2, linear_key_head_dim=8, linear_value_head_dim=8,
                shared_expert_intermediate_size=16, **experts)
    yield small("Bamba", mamba_d_state=4, mamba_n_heads=8, mamba_d_head=8, mamba_n_groups=1, mamba_chunk_size=4, attn_layer_indices=[1])
    yield small("FalconH1", mamba_d_state=4, mamba_n_heads=8, mamba_d_head=8, mamba_n_groups=1, mamba_chunk_size=4, mamba_d_ssm=64)
    yield small("GraniteMoeHybrid", num_local_experts=4, num_experts_per_tok=2, mamba_d_state=4, mamba_n_heads=8, mamba_d_head=8, mamba_n_groups=1, mamba_chunk_size=4,
                shared_intermediate_size=16, layer_types=["mamba", "attention"])
    yield small("NemotronH", hybrid_override_pattern="M*", mamba_num_heads=8, mamba_head_dim=8, ssm_state_size=4, n_groups=1, chunk_size=4, head_dim=8)
    yield small("xLSTM", num_heads=4, num_blocks=2, num_attention_heads=..., num_key_value_heads=..., intermediate_size=..., max_position_embeddings=..., chunk_size=4)
    yield small("Doge", num_key_value_heads=2)
    yield "llama4_text", *decoder(t, "Llama4TextConfig", "Llama4ForCausalLM", head_dim=8, num_local_experts=4, num_experts_per_tok=1, intermediate_size_mlp=64, attention_chunk_size=8)
    yield "gemma3n_text", *decoder(t, "Gemma3nTextConfig", "Gemma3nForCausalLM", head_dim=8, num_hidden_layers=3, sliding_window=8, hidden_size_per_layer_input=8, vocab_size_per_layer_input=96,
                                   num_kv_shared_layers=1, laurel_rank=4, intermediate_size=[64, 64, 64], layer_types=["sliding_attention", "full_attention", "full_attention"],
                                   activation_sparsity_pattern=[0.5, 0.0, 0.0])
    yield "biogpt", *decoder(t, "BioGptConfig", "BioGptForCausalLM", num_key_value_heads=...)
    yield "ctrl", *decoder(t, "CTRLConfig", "CTRLLMHeadModel", n_embd=32, n_layer=2, n_head=4, dff=64, n_positions=64, hidden_size=..., num_hidden_layers=..., num_attention_heads=...,
                           num_key_value_heads=..., intermediate_size=..., max_position_embeddings=...)
    yield "openai_gpt", lambda: Wrapped(t.OpenAIGPTLMHeadModel(t.OpenAIGPTConfig(vocab_size=96, n_embd=32, n_layer=2, n_head=4, n_positions=64)), lambda m, x: m(x).logits), \
        lambda: (ids(2, 12),), ({0: "b", 1: "s"},)
    yield "reformer", lambda: Wrapped(t.ReformerModelWithLMHead(t.ReformerConfig(
        vocab_size=96, hidden_size=32, num_attention_heads=2, attention_head_size=16, attn_layers=["local", "local"], local_attn_chunk_length=4, feed_forward_size=32, is_decoder=True,
        axial_pos_shape=[4, 4], axial_pos_embds_dim=[16, 16], max_position_embeddings=16)), lambda m, x: m(x, use_cache=False).logits), lambda: (ids(2, 16),), BATCH


def encoders_newer():
    import transformers as t

    for name in ("Nystromformer", "RemBert", "RoFormer", "Splinter", "Yoso", "MegatronBert", "RoCBert", "Lilt", "XLMRobertaXL", "RobertaPreLayerNorm", "Ernie", "EuroBert", "NomicBert", "Mra", "Esm",
                 "VisualBert"):
        if not hasattr(t, name + "Config"):
            continue
        words = {"Nystromformer": {"segment_means_seq_len": 12, "num_landmarks": 12}, "RemBert": {"input_embedding_size": 16, "output_embedding_size": 16}, "RoFormer": {"embedding_size": 32},
                 "Yoso": {"use_expectation": True}, "Esm": {"position_embedding_type": "rotary", "mask_token_id": 4, "pad_token_id": 1}, "EuroBert": {"num_key_value_heads": 4}}.get(name, {})
        if name == "Lilt":
            make, values, dims = encoder(t, "LiltConfig", "LiltModel", hidden_size=48, channel_shrink_ratio=4, max_2d_position_embeddings=64)
            yield "lilt", lambda make=make: Wrapped(make().model, lambda m, x, k: m(x, bbox=torch.zeros(*x.shape, 4, dtype=torch.int64), attention_mask=k)[0]), values, dims
            continue
        yield name.lower(), *encoder(t, name + "Config", name + "Model", **words)
    yield "flaubert", lambda: Wrapped(t.FlaubertModel(t.FlaubertConfig(vocab_size=96, emb_dim=32, n_layers=2, n_heads=4, max_position_embeddings=64)), lambda m, x: m(x)[0]), lambda: (ids(2, 12),), \
        ({0: "b", 1: "s"},)
    yield "xlm", lambda: Wrapped(t.XLMModel(t.XLMConfig(vocab_size=96, emb_dim=32, n_layers=2, n_heads=4, max_position_embeddings=64)), lambda m, x: m(x)[0]), lambda: (ids(2, 12),), ({0: "b", 1: "s"},)
    yield "canine", lambda: Wrapped(t.CanineModel(t.CanineConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, max_position_embeddings=64, num_hash_buckets=32,
                                                                 downsampling_rate=4, local_transformer_stride=8, upsampling_kernel_size=4)), lambda m, x: m(x)[0]), lambda: (ids(2, 16),), BATCH
    both = lambda m, x, y: m(input_ids=x, decoder_input_ids=y, use_cache=False).logits
    two = lambda: (ids(2, 9), ids(2, 5))
    dims = ({0: "b", 1: "s"}, {0: "b", 1: "u"})
    small = dict(vocab_size=96, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64,
                 max_position_embeddings=64, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=2)
    for name, words in {"PLBart": {}, "Mvp": {}, "Blenderbot": {}, "MBart": {},
                        "PegasusX": {"block_size": 4, "num_global_tokens": 2, "max_position_embeddings": 64}, "LED": {"max_encoder_position_embeddings": 64, "max_decoder_position_embeddings": 64,
                                                                                                                    "attention_window": 4}}.items():
        yield name.lower(), lambda name=name, words=words: Wrapped(getattr(t, name + "ForConditionalGeneration")(getattr(t, name + "Config")(**{**small, **words})), both), two, dims
    t5 = dict(vocab_size=96, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, decoder_start_token_id=0)
    for name in ("LongT5", "SwitchTransformers", "MT5"):
        words = {"LongT5": {"local_radius": 4, "encoder_attention_type": "local"}, "SwitchTransformers": {"num_experts": 4}}.get(name, {})
        yield name.lower(), lambda name=name, words=words: Wrapped(getattr(t, name + "ForConditionalGeneration")(getattr(t, name + "Config")(**t5, **words)), both), two, dims
    yield "prophetnet", lambda: Wrapped(t.ProphetNetForConditionalGeneration(t.ProphetNetConfig(
        vocab_size=96, hidden_size=32, encoder_ffn_dim=64, num_encoder_layers=1, num_encoder_attention_heads=4, decoder_ffn_dim=64, num_decoder_layers=1, num_decoder_attention_heads=4,
        max_position_embeddings=64, ngram=2, num_buckets=8, relative_max_distance=16)), both), two, dims
    series = dict(prediction_length=4, context_length=8, lags_sequence=[1, 2], num_time_features=1, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
                  decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16)
    past = lambda: (torch.rand(2, 10), torch.rand(2, 10, 1), torch.ones(2, 10), torch.rand(2, 4), torch.rand(2, 4, 1))
    for name in ("TimeSeriesTransformer", "Informer", "Autoformer"):
        call = lambda m, a, b, c, d, e: m(past_values=a, past_time_features=b, past_observed_mask=c, future_values=d, future_time_features=e, use_cache=False)[0]
        words = {"Autoformer": {"moving_average": 3, "label_length": 4}}.get(name, {})
        yield name.lower(), lambda name=name, words=words: Wrapped(getattr(t, name + "Model")(getattr(t, name + "Config")(**series, **words)), call), past, tuple({0: "b"} for _ in range(5))
    yield "patchtst", lambda: Wrapped(t.PatchTSTForPrediction(t.PatchTSTConfig(num_input_channels=2, context_length=16, patch_length=4, patch_stride=4, d_model=16, num_attention_heads=2,
                                                                               num_hidden_layers=1, ffn_dim=16, prediction_length=4)), lambda m, x: m(past_values=x).prediction_outputs), \
        lambda: (torch.randn(2, 16, 2),), BATCH
    yield "patchtsmixer", lambda: Wrapped(t.PatchTSMixerForPrediction(t.PatchTSMixerConfig(num_input_channels=2, context_length=16, patch_length=4, patch_stride=4, d_model=16, num_layers=1,
                                                                                           prediction_length=4)), lambda m, x: m(past_values=x).prediction_outputs), lambda: (torch.randn(2, 16, 2),), BATCH
    acts = lambda: (torch.randn(2, 3, 4), torch.randn(2, 3, 2), torch.randn(2, 3, 1), torch.arange(3).repeat(2, 1))
    yield "decision_transformer", lambda: Wrapped(t.DecisionTransformerModel(t.DecisionTransformerConfig(state_dim=4, act_dim=2, hidden_size=16, n_layer=1, n_head=2, max_ep_len=8)),
                                                  lambda m, s, a, r, k: tuple(m(states=s, actions=a, rewards=r, returns_to_go=r, timesteps=k, attention_mask=torch.ones_like(k), return_dict=False)[:3])), \
        acts, tuple({0: "b"} for _ in range(4))


def pictures_newer():
    import transformers as t

    small = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "image_size": 32, "patch_size": 8}
    first = lambda m, i: m(i)[0]
    for name in ("ViTMSN", "Dinov2WithRegisters", "DINOv3ViT", "VitDet", "Pixio"):
        if hasattr(t, name + "Config"):
            yield name.lower(), lambda name=name: Wrapped(getattr(t, name + "Model")(getattr(t, name + "Config")(**{**small, **({"num_register_tokens": 2} if "ister" in name else {})})), first), \
                image(32), BATCH
    stages = {"hidden_sizes": [8, 16], "depths": [1, 1], "embedding_size": 8}
    for name, words, size in (("RegNet", {**stages, "groups_width": 8}, 64), ("Bit", {**stages, "num_groups": 4}, 64), ("MobileNetV1", {"image_size": 64, "depth_multiplier": 0.25}, 64),
                              ("MobileNetV2", {"image_size": 64, "depth_multiplier": 0.35}, 64), ("EfficientNet", {"image_size": 64, "width_coefficient": 0.5, "depth_coefficient": 0.5, "hidden_dim": 640}, 64),
                              ("FocalNet", {"image_size": 64, "embed_dim": 8, "depths": [1, 1], "focal_levels": [1, 1], "focal_windows": [3, 3], "hidden_sizes": [8, 16]}, 64),
                              ("Cvt", {}, 64),
                              ("PoolFormer", {"hidden_sizes": [8, 16, 16, 16], "depths": [1, 1, 1, 1]}, 64),
                              ("SwiftFormer", {"embed_dims": [8, 16, 16, 16], "depths": [1, 1, 1, 1], "image_size": 64}, 64),
                              ("PvtV2", {"image_size": 64, "hidden_sizes": [8, 16, 16, 16], "depths": [1, 1, 1, 1], "num_attention_heads": [1, 2, 2, 2]}, 64),
                              ("Hiera", {"image_size": [32, 32], "embed_dim": 8, "depths": [1, 1, 1], "num_heads": [1, 2, 4], "patch_stride": [2, 2], "patch_size": [3, 3], "patch_padding": [1, 1],
                                         "masked_unit_size": [4, 4], "num_query_pool": 2}, 32),
                              ("DonutSwin", {"image_size": 64, "patch_size": 4, "embed_dim": 8, "depths": [2, 2], "num_heads": [2, 2], "window_size": 4}, 64),
                              ("TextNet", {}, 64), ("HGNetV2", {}, 64), ("MobileViTV2", {"image_size": 64, "width_multiplier": 0.5}, 64)):
        if hasattr(t, name + "Model") or name == "HGNetV2":
            kind = name + "Model" if hasattr(t, name + "Model") else name + "Backbone"
            yield "hf_" + name.lower(), lambda kind=kind, name=name, words=words: Wrapped(getattr(t, kind)(getattr(t, name + "Config")(**words)), lambda m, i: m(i)[0] if not isinstance(m(i)[0], tuple) else m(i)[0][-1]), \
                image(size), BATCH
    clip = lambda frames: lambda: (torch.randn(2, frames, 3, 32, 32),)
    yield "timesformer", lambda: Wrapped(t.TimesformerModel(t.TimesformerConfig(**small, num_frames=2)), first), clip(2), BATCH
    yield "videomae", lambda: Wrapped(t.VideoMAEModel(t.VideoMAEConfig(**small, num_frames=4)), first), clip(4), BATCH
    yield "vivit", lambda: Wrapped(t.VivitModel(t.VivitConfig(**{k: v for k, v in small.items() if k != "patch_size"}, num_frames=4, tubelet_size=[2, 8, 8])), first), clip(4), BATCH
    yield "vjepa2", lambda: Wrapped(t.VJEPA2Model(t.VJEPA2Config(hidden_size=24, num_hidden_layers=1, num_attention_heads=2, crop_size=32, patch_size=8, frames_per_clip=4, pred_hidden_size=24,
                                                                 pred_num_attention_heads=2, pred_num_hidden_layers=1, mlp_ratio=2)), lambda m, v: m(v, skip_predictor=True)[0]), clip(4), BATCH
    yield "imagegpt", lambda: Wrapped(t.ImageGPTModel(t.ImageGPTConfig(vocab_size=33, n_embd=32, n_layer=2, n_head=4, n_positions=64)), lambda m, x: m(x, use_cache=False)[0]), lambda: (ids(2, 12, top=32),), \
        ({0: "b", 1: "s"},)
    yield "swin2sr", lambda: Wrapped(t.Swin2SRForImageSuperResolution(t.Swin2SRConfig(image_size=16, embed_dim=16, depths=[2], num_heads=[2], window_size=4, upscale=2)), lambda m, i: m(i).reconstruction), \
        image(16), BATCH
    yield "depth_anything", lambda: Wrapped(t.DepthAnythingForDepthEstimation(t.DepthAnythingConfig(
        backbone_config=t.Dinov2Config(**small, out_features=["stage1", "stage2"], reshape_hidden_states=False), reassemble_hidden_size=32, patch_size=8, neck_hidden_sizes=[8, 8],
        reassemble_factors=[2, 1], fusion_hidden_size=8, head_hidden_size=8)), lambda m, i: m(i).predicted_depth), image(32), BATCH
    yield "glpn", lambda: Wrapped(t.GLPNForDepthEstimation(t.GLPNConfig(hidden_sizes=[8, 16, 16, 16], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 2, 2], decoder_hidden_size=8)),
                                  lambda m, i: m(i).predicted_depth), image(64), BATCH
    yield "superpoint", lambda: Wrapped(t.SuperPointForKeypointDetection(t.SuperPointConfig(encoder_hidden_sizes=[8, 8, 8], decoder_hidden_size=8, descriptor_decoder_dim=8, max_keypoints=5)),
                                        lambda m, i: m.encoder(i)[0]), image(32, channels=1), BATCH
    text = {"vocab_size": 96, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "max_position_embeddings": 40, "pad_token_id": 0}
    pair = lambda: (ids(2, 12), torch.randn(2, 3, 32, 32))
    yield "vilt", lambda: Wrapped(t.ViltModel(t.ViltConfig(**small, vocab_size=96, max_position_embeddings=40)), lambda m, x, i: m(input_ids=x, pixel_values=i, pixel_mask=torch.ones(2, 32, 32).long())[0]), \
        pair, None
    yield "blip_text", lambda: Wrapped(t.BlipForConditionalGeneration(t.BlipConfig(
        text_config={**text, "encoder_hidden_size": 32, "bos_token_id": 1, "eos_token_id": 2, "sep_token_id": 2}, vision_config=small)), lambda m, x, i: m(input_ids=x, pixel_values=i).logits), pair, \
        ({0: "b", 1: "s"}, {0: "b"})
    yield "clipseg", lambda: Wrapped(t.CLIPSegForImageSegmentation(t.CLIPSegConfig(
        text_config={**text, "bos_token_id": 1, "eos_token_id": 2}, vision_config=small, projection_dim=16, extract_layers=[0, 1], reduce_dim=16, decoder_num_attention_heads=2,
        decoder_intermediate_size=16)), lambda m, x, i: m(input_ids=x, pixel_values=i).logits), pair, None
    yield "owlvit", lambda: Wrapped(t.OwlViTForObjectDetection(t.OwlViTConfig(text_config={**text, "bos_token_id": 1, "eos_token_id": 2}, vision_config=small, projection_dim=32)),
                                    lambda m, x, i: (lambda o: (o.logits, o.pred_boxes))(m(input_ids=x, pixel_values=i))), pair, None
    yield "git", lambda: Wrapped(t.GitForCausalLM(t.GitConfig(vision_config=small, **{**text, "bos_token_id": 1, "eos_token_id": 2})), lambda m, x, i: m(input_ids=x, pixel_values=i, use_cache=False).logits), \
        pair, None
    yield "llava", lambda: Wrapped(t.LlavaForConditionalGeneration(t.LlavaConfig(
        vision_config=t.CLIPVisionConfig(**small), text_config=t.LlamaConfig(**{**text, "num_key_value_heads": 2}), image_token_index=95, vision_feature_select_strategy="full")),
        lambda m, x, i: m(input_ids=x, pixel_values=i, use_cache=False).logits), lambda: (torch.cat([torch.full((2, 17), 95), ids(2, 5)], 1), torch.randn(2, 3, 32, 32)), None
    resnet = t.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16, 16, 16], depths=[1, 1, 1, 1], out_features=["stage2", "stage3", "stage4"])
    found = lambda m, i: (lambda o: (o.logits, o.pred_boxes))(m(i))
    yield "rt_detr", lambda: Wrapped(t.RTDetrForObjectDetection(t.RTDetrConfig(
        backbone_config=t.RTDetrResNetConfig(embedding_size=8, hidden_sizes=[8, 16, 16, 16], depths=[1, 1, 1, 1], layer_type="basic", out_features=["stage2", "stage3", "stage4"]), backbone=None,
        encoder_hidden_dim=16, encoder_in_channels=[16, 16, 16], feat_strides=[8, 16, 32], encoder_ffn_dim=16, encoder_attention_heads=2, d_model=16, num_queries=5, decoder_in_channels=[16, 16, 16],
        decoder_ffn_dim=16, decoder_layers=1, decoder_attention_heads=2, num_denoising=0, anchor_image_size=None)), found), image(64), BATCH
    yield "deformable_detr", lambda: Wrapped(t.DeformableDetrForObjectDetection(t.DeformableDetrConfig(
        backbone_config=resnet, use_timm_backbone=False, backbone=None, use_pretrained_backbone=False, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16, num_queries=5)), found), image(64), None


def sounds_newer():
    import transformers as t

    small = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    yield "wav2vec2_bert", lambda: Wrapped(t.Wav2Vec2BertModel(t.Wav2Vec2BertConfig(**small, feature_projection_input_dim=16, conv_depthwise_kernel_size=5, left_max_position_embeddings=8,
                                                                                    right_max_position_embeddings=4)), lambda m, x: m(x)[0]), lambda: (torch.randn(2, 20, 16),), BATCH
    yield "speech_to_text", lambda: Wrapped(t.Speech2TextModel(t.Speech2TextConfig(
        vocab_size=40, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16, conv_channels=16,
        input_feat_per_channel=8, max_source_positions=64, max_target_positions=32)), lambda m, x, y: m(input_features=x, decoder_input_ids=y, use_cache=False)[0]), \
        lambda: (torch.randn(2, 24, 8), ids(2, 5, top=40)), ({0: "b"}, {0: "b"})
    yield "moonshine", lambda: Wrapped(t.MoonshineModel(t.MoonshineConfig(
        vocab_size=40, hidden_size=16, intermediate_size=32, encoder_num_hidden_layers=1, decoder_num_hidden_layers=1, encoder_num_attention_heads=2, decoder_num_attention_heads=2,
        pad_token_id=0)), lambda m, x, y: m(input_values=x, decoder_input_ids=y, use_cache=False)[0]), lambda: (torch.randn(1, 4000), ids(1, 5, top=40)), None
    yield "parakeet", lambda: Wrapped(t.ParakeetForCTC(t.ParakeetCTCConfig(vocab_size=20, pad_token_id=0, encoder_config=dict(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, conv_kernel_size=3, subsampling_conv_channels=8, num_mel_bins=16))), lambda m, x: m(x).logits), \
        lambda: (torch.randn(2, 32, 16),), BATCH
    yield "clap_audio", lambda: Wrapped(t.ClapAudioModel(t.ClapAudioConfig(
        spec_size=64, num_mel_bins=16, patch_embeds_hidden_size=8, depths=[1, 1], num_attention_heads=[2, 2], window_size=4, hidden_size=16, patch_size=4, patch_stride=[4, 4], num_classes=4)),
        lambda m, x: m(input_features=x)[0]), lambda: (torch.randn(2, 1, 256, 16),), None
    yield "mimi", lambda: Wrapped(t.MimiModel(t.MimiConfig(
        num_filters=4, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2, intermediate_size=16, codebook_size=16, codebook_dim=8, vector_quantization_hidden_dimension=8,
        num_quantizers=2, num_semantic_quantizers=1, upsampling_ratios=[4, 2], head_dim=8, upsample_groups=16)), lambda m, x: m.encode(x).audio_codes), lambda: (torch.randn(1, 1, 640),), None
    yield "dac", lambda: Wrapped(t.DacModel(t.DacConfig(encoder_hidden_size=8, downsampling_ratios=[2, 4], decoder_hidden_size=16, n_codebooks=2, codebook_size=16, codebook_dim=4)),
                                 lambda m, x: m(x).audio_values), lambda: (torch.randn(1, 1, 320),), None
    yield "univnet", lambda: Wrapped(t.UnivNetModel(t.UnivNetConfig(model_in_channels=8, model_hidden_channels=8, num_mel_bins=8, resblock_kernel_sizes=[3], resblock_stride_sizes=[4],
                                                                    resblock_dilation_sizes=[[1, 3]], kernel_predictor_hidden_channels=8)),
                                     lambda m, x, n: m(input_features=x, noise_sequence=n).waveforms), lambda: (torch.randn(1, 6, 8), torch.randn(1, 6, 8)), None
    yield "unispeech_sat", lambda: Wrapped(t.UniSpeechSatModel(t.UniSpeechSatConfig(
        **small, conv_dim=[16, 16], conv_kernel=[8, 4], conv_stride=[4, 2], num_feat_extract_layers=2, num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=4)), lambda m, x: m(x)[0]), \
        lambda: (torch.randn(2, 800),), BATCH
    yield "sew_d", lambda: Wrapped(t.SEWDModel(t.SEWDConfig(
        **small, squeeze_factor=2, conv_dim=[16, 16], conv_kernel=[8, 4], conv_stride=[4, 2], num_feat_extract_layers=2, num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=4,
        position_buckets=8, max_position_embeddings=64)), lambda m, x: m(x)[0]), lambda: (torch.randn(2, 800),), BATCH


def families():
    return {"timm-newer": timm_newer, "vision-newer": vision_newer, "decoders-newer": decoders_newer, "encoders-newer": encoders_newer, "pictures-newer": pictures_newer,
            "sounds-newer": sounds_newer}

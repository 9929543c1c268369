# SPDX-License-Identifier: Apache-2.0
"""Models for public_models.py, of families of transformers that neither zoo.py nor zoo_newer.py has: its entries, in small configurations."""
import torch

from zoo import BATCH, Wrapped, decoder, encoder, ids, image


def decoders_recent():
    import transformers as t

    small = lambda name, **words: (name.lower(), *decoder(t, name + "Config", name + "ForCausalLM", **words))
    experts = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}
    routed = {"n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "n_group": 1, "topk_group": 1, "n_shared_experts": 1, "first_k_dense_replace": 1}
    latent = {"q_lora_rank": 16, "kv_lora_rank": 16, "qk_rope_head_dim": 4, "qk_nope_head_dim": 8, "v_head_dim": 8, "num_key_value_heads": 4}
    yield small("GraniteSWA", sliding_window=8)
    yield small("MiniCPM3", **latent)
    yield small("Youtu", **latent)
    yield small("MiniMaxM2", num_local_experts=4, num_experts_per_tok=2, head_dim=8, rotary_dim=8)
    yield small("ExaoneMoe", head_dim=8, sliding_window=8, **{**experts, "n_group": 1, "topk_group": 1})
    yield small("Lfm2Moe", layer_types=["conv", "full_attention"], num_dense_layers=1, **experts)
    yield small("LongcatFlash", num_layers=2, n_routed_experts=4, moe_topk=2, expert_ffn_hidden_size=16, ffn_hidden_size=32, zero_expert_num=1, head_dim=4, **latent)
    yield small("SolarOpen", head_dim=8, **routed)
    yield small("MiMoV2Flash", head_dim=8, v_head_dim=8, swa_head_dim=8, swa_v_head_dim=8, sliding_window=8, **routed)
    yield small("OlmoHybrid", layer_types=["linear_attention", "full_attention"], linear_num_key_heads=2, linear_num_value_heads=2, linear_key_head_dim=8, linear_value_head_dim=8)
    yield small("KimiLinear", head_dim=8, **latent)
    yield small("ModernBertDecoder", local_attention=8, num_key_value_heads=...)
    # A relu before the choice of 8 positions leaves zeros among them, of which PyTorch promises no order.
    yield small("DeepseekV32", index_n_heads=2, index_head_dim=8, index_topk=64, **latent, **routed)
    yield small("Mistral4", head_dim=8, **latent, **routed)
    yield small("Cohere2Moe", sliding_window=8, **experts)
    yield small("HunYuanMoEV1", head_dim=8, num_experts=4, moe_topk=2)
    yield small("Ministral3", head_dim=8)
    yield small("Afmoe", head_dim=8, sliding_window=8, num_dense_layers=1, num_shared_experts=1, **experts)
    yield small("HYV3", head_dim=8, **experts)
    yield small("Mellum", head_dim=8, sliding_window=8, **experts)
    yield small("Laguna", head_dim=8, sliding_window=8, **experts)
    yield small("Flint")
    yield small("Kolibri1")
    yield small("Lfm3")
    yield small("Zaya")
    yield small("HrmText")
    yield small("AXK1", **latent, **routed)
    yield small("BailingHybrid", head_dim=8, **experts)
    yield small("Xmod", languages=["en_XX"], default_language="en_XX", num_key_value_heads=..., is_decoder=True)
    yield "trocr", *decoder(t, "TrOCRConfig", "TrOCRForCausalLM", d_model=32, decoder_layers=2, decoder_attention_heads=4, decoder_ffn_dim=64, hidden_size=..., num_hidden_layers=...,
                            num_attention_heads=..., num_key_value_heads=..., intermediate_size=...)
    text = lambda name, **words: (name.lower(), *(lambda made: (lambda: Wrapped(made[0]().model, lambda m, x: m(x, use_cache=False)[0]), *made[1:]))(decoder(t, name + "TextConfig", name + "TextModel", **words)))
    linear = {"layer_types": ["linear_attention", "full_attention"], "linear_num_key_heads": 2, "linear_num_value_heads": 2, "linear_key_head_dim": 8, "linear_value_head_dim": 8}
    yield text("Qwen3_5", head_dim=8, **linear)
    yield text("Qwen3_5Moe", head_dim=8, shared_expert_intermediate_size=16, **linear, **experts)
    yield text("Gemma4", head_dim=8, global_head_dim=8, sliding_window=8, num_hidden_layers=3, hidden_size_per_layer_input=8, vocab_size_per_layer_input=96, num_kv_shared_layers=1,
               layer_types=["sliding_attention", "full_attention", "full_attention"])


def encoders_recent():
    import transformers as t

    for name in ("Camembert", "Data2VecText", "XLMRoberta", "Gte", "JinaEmbeddingsV3", "LayoutLM", "MarkupLM", "Luke", "Tapas", "Xmod", "Esmc", "Ultrabert"):
        words = {"Luke": {"entity_vocab_size": 10, "entity_emb_size": 8, "use_entity_aware_attention": False}, "Xmod": {"languages": ["en_XX"], "default_language": "en_XX"},
                 "MarkupLM": {"xpath_unit_hidden_size": 8}, "LayoutLM": {"max_2d_position_embeddings": 64}}.get(name, {})
        made = encoder(t, name + "Config", name + "Model", **words)
        yield name.lower(), *made
    yield "bert_generation", *encoder(t, "BertGenerationConfig", "BertGenerationEncoder")
    both = lambda m, x, y: m(input_ids=x, decoder_input_ids=y, use_cache=False).logits
    two, dims = lambda: (ids(2, 9), ids(2, 5)), ({0: "b", 1: "s"}, {0: "b", 1: "u"})
    small = dict(vocab_size=96, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64,
                 max_position_embeddings=64, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=2)
    yield "nllb_moe", lambda: Wrapped(t.NllbMoeForConditionalGeneration(t.NllbMoeConfig(**small, num_experts=4, encoder_sparse_step=1, decoder_sparse_step=1, expert_capacity=8)), both), two, dims
    yield "bigbird_pegasus", lambda: Wrapped(t.BigBirdPegasusForConditionalGeneration(t.BigBirdPegasusConfig(**small, attention_type="original_full")), both), two, dims
    side = dict(vocab_size=96, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=8, intermediate_size=64, sliding_window=8)
    yield "t5gemma", lambda: Wrapped(t.T5GemmaForConditionalGeneration(t.T5GemmaConfig(encoder=side, decoder=side, vocab_size=96)), both), two, dims
    yield "lxmert", lambda: Wrapped(t.LxmertModel(t.LxmertConfig(vocab_size=96, hidden_size=32, num_attention_heads=4, intermediate_size=64, l_layers=1, x_layers=1, r_layers=1, visual_feat_dim=16)),
                                    lambda m, x, v, p: tuple(m(x, visual_feats=v, visual_pos=p)[:2])), lambda: (ids(2, 9), torch.randn(2, 5, 16), torch.rand(2, 5, 4)), \
        ({0: "b", 1: "s"}, {0: "b"}, {0: "b"})
    yield "timesfm", lambda: Wrapped(t.TimesFmModel(t.TimesFmConfig(patch_length=4, context_length=16, horizon_length=4, hidden_size=16, intermediate_size=16, head_dim=8, num_attention_heads=2,
                                                                    num_hidden_layers=1)), lambda m, x: m(x, past_values_padding=torch.zeros(x.shape, dtype=torch.int64), freq=torch.zeros(x.shape[0], 1, dtype=torch.int64))[0]), \
        lambda: (torch.randn(2, 16),), BATCH


def pictures_recent():
    import transformers as t

    small = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "image_size": 32, "patch_size": 8}
    text = {"vocab_size": 96, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "max_position_embeddings": 40, "pad_token_id": 0, "bos_token_id": 1,
            "eos_token_id": 2}
    first = lambda m, i: m(i)[0]
    pair, two = lambda: (ids(2, 12), torch.randn(2, 3, 32, 32)), ({0: "b", 1: "s"}, {0: "c"})
    for name in ("Data2VecVision", "Aimv2Vision", "MLCDVision", "Sapiens2"):
        words = {"MLCDVision": {"num_key_value_groups": 1}}.get(name, {})
        yield name.lower(), lambda name=name, words=words: Wrapped(getattr(t, name + "Model")(getattr(t, name + "Config")(**small, **words)), first), image(32), BATCH
    for name, prefix in (("AltCLIP", {}), ("ChineseCLIP", {}), ("MetaClip2", {}), ("Aimv2", {})):
        words = {**text, **({"project_dim": 16} if name == "AltCLIP" else {})}
        yield name.lower(), lambda name=name, words=words: Wrapped(getattr(t, name + "Model")(getattr(t, name + "Config")(text_config=words, vision_config=small, projection_dim=16)),
                                                                   lambda m, x, i: m(input_ids=x, pixel_values=i).logits_per_image), pair, two
    yield "groupvit", lambda: Wrapped(t.GroupViTModel(t.GroupViTConfig(text_config=text, vision_config={**small, "depths": [1, 1, 1], "num_group_tokens": [8, 4, 0], "num_output_groups": [8, 4, 0]},
                                                                       projection_dim=16, projection_intermediate_dim=16)), lambda m, x, i: m(input_ids=x, pixel_values=i).logits_per_image), pair, None
    yield "flava", lambda: Wrapped(t.FlavaModel(t.FlavaConfig(text_config=text, image_config=small, multimodal_config={k: v for k, v in small.items() if "size" not in k or "hidden" in k}, hidden_size=32,
                                                              projection_dim=16)), lambda m, x, i: m(input_ids=x, pixel_values=i).multimodal_embeddings), pair, None
    yield "layoutlmv3", lambda: Wrapped(t.LayoutLMv3Model(t.LayoutLMv3Config(**text, coordinate_size=4, shape_size=8, max_2d_position_embeddings=64, input_size=32, patch_size=8, has_spatial_attention_bias=False,
                                                                             has_relative_attention_bias=False)),
                                        lambda m, x, i: m(input_ids=x, bbox=torch.zeros(*x.shape, 4, dtype=torch.int64), pixel_values=i)[0]), pair, None
    yield "bridgetower", lambda: Wrapped(t.BridgeTowerModel(t.BridgeTowerConfig(hidden_size=64, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, text_config={**text, "hidden_size": 64},
                                                                                vision_config={"hidden_size": 64, "num_hidden_layers": 2, "image_size": 32, "patch_size": 8})),
                                         lambda m, x, i: m(input_ids=x, pixel_values=i).text_features), pair, None
    yield "dinov3_convnext", lambda: Wrapped(t.DINOv3ConvNextModel(t.DINOv3ConvNextConfig(hidden_sizes=[8, 16, 16, 16], depths=[1, 1, 1, 1], image_size=64)), first), image(64), BATCH
    yield "pp_lcnet", lambda: Wrapped(t.PPLCNetBackbone(t.PPLCNetConfig()), lambda m, i: m(i)[0][-1]), image(64), BATCH
    yield "mgp_str", lambda: Wrapped(t.MgpstrForSceneTextRecognition(t.MgpstrConfig(image_size=[32, 64], patch_size=8, max_token_length=5, num_character_labels=10, num_bpe_labels=20, num_wordpiece_labels=20,
                                                                                    hidden_size=32, num_hidden_layers=2, num_attention_heads=4)), lambda m, i: m(i)[0]), lambda: (torch.randn(2, 3, 32, 64),), BATCH
    yield "seggpt", lambda: Wrapped(t.SegGptModel(t.SegGptConfig(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, image_size=[32, 16], patch_size=8, mlp_dim=16, merge_index=0,
                                                                 intermediate_hidden_state_indices=[1], pretrain_image_size=16, decoder_hidden_size=8)), lambda m, a, b, c: m(a, b, c)[0]), \
        lambda: (torch.randn(2, 3, 16, 16), torch.randn(2, 3, 16, 16), torch.randn(2, 3, 16, 16)), None
    yield "vitpose", lambda: Wrapped(t.VitPoseForPoseEstimation(t.VitPoseConfig(backbone_config=t.VitPoseBackboneConfig(**{**small, "image_size": [32, 32], "patch_size": [8, 8]}, out_features=["stage2"]),
                                                                                num_labels=5)), lambda m, i: m(i).heatmaps), image(32), BATCH
    yield "vitmatte", lambda: Wrapped(t.VitMatteForImageMatting(t.VitMatteConfig(backbone_config=t.VitDetConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, image_size=32, patch_size=16,
                                                                                                               num_channels=4, out_features=["stage1"]), hidden_size=16,
                                                                                 convstream_hidden_sizes=[8, 16, 16], fusion_hidden_sizes=[16, 16, 8, 8])), lambda m, i: m(i).alphas), image(32, channels=4), BATCH
    swin = t.SwinConfig(image_size=64, patch_size=4, embed_dim=8, depths=[1, 1, 1, 1], num_heads=[1, 2, 2, 2], window_size=4, out_features=["stage1", "stage2", "stage3", "stage4"])
    yield "upernet", lambda: Wrapped(t.UperNetForSemanticSegmentation(t.UperNetConfig(backbone_config=swin, hidden_size=16, auxiliary_channels=8, auxiliary_in_channels=32, num_labels=4)), lambda m, i: m(i).logits), \
        image(64), BATCH
    yield "maskformer", lambda: Wrapped(t.MaskFormerForInstanceSegmentation(t.MaskFormerConfig(
        backbone_config=swin, fpn_feature_size=32, mask_feature_size=32, decoder_config=t.DetrConfig(d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
                                                                                                  encoder_ffn_dim=16, decoder_ffn_dim=16, num_queries=5))),
        lambda m, i: (lambda o: (o.class_queries_logits, o.masks_queries_logits))(m(i))), image(64), None
    yield "mask2former", lambda: Wrapped(t.Mask2FormerForUniversalSegmentation(t.Mask2FormerConfig(
        backbone_config=swin, feature_size=32, mask_feature_size=32, hidden_dim=32, encoder_feedforward_dim=16, dim_feedforward=16, encoder_layers=1, decoder_layers=2, num_attention_heads=2, num_queries=5)),
        lambda m, i: (lambda o: (o.class_queries_logits, o.masks_queries_logits))(m(i))), image(64), None
    resnet = t.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16, 16, 16], depths=[1, 1, 1, 1], out_features=["stage4"])
    yield "dab_detr", lambda: Wrapped(t.DabDetrForObjectDetection(t.DabDetrConfig(backbone_config=resnet, hidden_size=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
                                                                                  encoder_ffn_dim=16, decoder_ffn_dim=16, num_queries=5)), lambda m, i: (lambda o: (o.logits, o.pred_boxes))(m(i))), image(64), None
    yield "xclip", lambda: Wrapped(t.XCLIPVisionModel(t.XCLIPVisionConfig(**small, num_frames=2, mit_hidden_size=16, mit_intermediate_size=16, mit_num_attention_heads=2, mit_num_hidden_layers=1)), first), \
        lambda: (torch.randn(4, 3, 32, 32),), None
    yield "siglip2", lambda: Wrapped(t.Siglip2VisionModel(t.Siglip2VisionConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, patch_size=4, num_patches=16)),
                                     lambda m, p, k, s: m(pixel_values=p, pixel_attention_mask=k, spatial_shapes=s)[0]), \
        lambda: (torch.randn(2, 16, 48), torch.ones(2, 16, dtype=torch.int64), torch.tensor([[4, 4], [2, 8]])), None


def sounds_recent():
    import transformers as t

    yield "bark_semantic", lambda: Wrapped(t.BarkSemanticModel(t.BarkSemanticConfig(hidden_size=32, num_layers=2, num_heads=4, input_vocab_size=96, output_vocab_size=96, block_size=64)),
                                           lambda m, x: m(x, use_cache=False).logits), lambda: (ids(2, 12),), ({0: "b", 1: "s"},)
    yield "speecht5", lambda: Wrapped(t.SpeechT5ForSpeechToText(t.SpeechT5Config(
        vocab_size=40, hidden_size=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, conv_dim=[16, 16], conv_kernel=[8, 4],
        conv_stride=[4, 2], num_feat_extract_layers=2, num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=4)), lambda m, x, y: m(input_values=x, decoder_input_ids=y, use_cache=False).logits), \
        lambda: (torch.randn(2, 800), ids(2, 5, top=40)), None
    yield "fastspeech2", lambda: Wrapped(t.FastSpeech2ConformerModel(t.FastSpeech2ConformerConfig(
        hidden_size=16, vocab_size=40, num_mel_bins=8, encoder_num_attention_heads=2, encoder_layers=1, encoder_linear_units=16, decoder_layers=1, decoder_num_attention_heads=2, decoder_linear_units=16,
        speech_decoder_postnet_layers=2, speech_decoder_postnet_units=8, duration_predictor_layers=1, duration_predictor_channels=8, energy_predictor_layers=1, energy_predictor_channels=8,
        pitch_predictor_layers=1, pitch_predictor_channels=8, energy_embed_kernel_size=1, pitch_embed_kernel_size=1)), lambda m, x: m.encoder(x, torch.ones(x.shape[0], 1, x.shape[1], dtype=torch.bool))[0]), \
        lambda: (ids(2, 9, top=40),), ({0: "b", 1: "s"},)
    yield "pop2piano", lambda: Wrapped(t.Pop2PianoForConditionalGeneration(t.Pop2PianoConfig(vocab_size=96, d_model=32, d_kv=8, d_ff=64, num_layers=1, num_heads=4, decoder_start_token_id=0)),
                                       lambda m, x, y: m(inputs_embeds=x, decoder_input_ids=y, use_cache=False).logits), lambda: (torch.randn(2, 9, 32), ids(2, 5)), ({0: "b", 1: "s"}, {0: "b", 1: "u"})


def families():
    return {"decoders-recent": decoders_recent, "encoders-recent": encoders_recent, "pictures-recent": pictures_recent, "sounds-recent": sounds_recent}

# SPDX-License-Identifier: Apache-2.0
"""Models of torchvision, timm and transformers in small configurations, for public_models.py.

Each entry: a name, a function that makes the model, one that makes its inputs, and which dims of the inputs may change: a
dict from input to dims, each of which is the name of a dim (`b`, `s`).
"""
import torch
from torch import nn


class Wrapped(nn.Module):
    """Takes and gives tensors only."""

    def __init__(self, model, call):
        super().__init__()
        self.model, self.call = model, call

    def forward(self, *inputs):
        return self.call(self.model, *inputs)


def image(size, batch=2, channels=3):
    return lambda: (torch.randn(batch, channels, size, size),)


def ids(*shape, top=90):
    return torch.randint(3, top, shape)


BATCH = ({0: "b"},)


def vision():
    from torchvision import models
    from torchvision.models import detection, optical_flow, segmentation, video

    for name, size in {"regnet_y_400mf": 64, "regnet_x_400mf": 64, "efficientnet_v2_s": 64, "mnasnet0_5": 64, "shufflenet_v2_x0_5": 64, "squeezenet1_1": 64,
                       "googlenet": 96, "inception_v3": 96, "alexnet": 96, "vgg11_bn": 64, "mobilenet_v2": 64, "resnext50_32x4d": 64, "wide_resnet50_2": 64,
                       "swin_v2_t": 64, "maxvit_t": 224}.items():
        make = lambda name=name: getattr(models, name)(**({"init_weights": False} if name in ("googlenet", "inception_v3") else {}))
        yield name, make, image(size), BATCH
    for name in ("deeplabv3_resnet50", "deeplabv3_mobilenet_v3_large", "fcn_resnet50"):
        yield name, lambda name=name: getattr(segmentation, name)(weights=None, weights_backbone=None), image(64), BATCH
    for name in ("r3d_18", "mc3_18", "r2plus1d_18", "s3d"):
        yield name, lambda name=name: getattr(video, name)(), lambda name=name: (torch.randn(2, 3, 16 if name == "s3d" else 4, *(2 * [224 if name == "s3d" else 64])),), BATCH
    yield "mvit", lambda: video.MViT(
        spatial_size=(32, 32), temporal_size=4, block_setting=[models.video.mvit.MSBlockConfig(1, 16, 32, (3, 3, 3), (3, 3, 3), (1, 1, 1), (1, 2, 2)),
                                                               models.video.mvit.MSBlockConfig(2, 32, 32, (3, 3, 3), (3, 3, 3), (1, 2, 2), (1, 1, 1))],
        residual_pool=True, residual_with_cls_embed=False, rel_pos_embed=True, proj_after_attn=True, num_classes=10), lambda: (torch.randn(2, 3, 4, 32, 32),), BATCH
    raft = lambda: Wrapped(optical_flow.raft_small(), lambda m, a, b: m(a, b, num_flow_updates=2))
    yield "raft_small", raft, lambda: (torch.randn(1, 3, 128, 128), torch.randn(1, 3, 128, 128)), None
    backbone = lambda: Wrapped(detection.backbone_utils.resnet_fpn_backbone(backbone_name="resnet18", weights=None), lambda m, x: tuple(m(x).values()))
    yield "resnet_fpn", backbone, image(64), BATCH
    for name in ("retinanet_resnet50_fpn", "fasterrcnn_mobilenet_v3_large_320_fpn", "ssdlite320_mobilenet_v3_large"):
        def parts(m, x):
            features = list(m.backbone(x).values())
            return tuple(m.head(features).values()) if hasattr(m, "head") else m.rpn.head(features)
        yield name + "_head", lambda name=name, parts=parts: Wrapped(getattr(detection, name)(weights=None, weights_backbone=None), parts), image(128), BATCH


def timm_models():
    import timm

    for name, size in {"mixer_s32_224": 224, "coat_tiny": 224, "coat_lite_tiny": 224, "eva02_tiny_patch14_224": 224, "maxvit_rmlp_pico_rw_256": 256, "mobilevit_xxs": 64,
                       "mobilevitv2_050": 64, "hiera_tiny_224": 224, "beit_base_patch16_224": 224, "cait_xxs24_224": 224, "convit_tiny": 224, "convnextv2_atto": 64, "crossvit_tiny_240": 240,
                       "davit_tiny": 224, "deit3_small_patch16_224": 224, "edgenext_xx_small": 64, "efficientformer_l1": 224, "efficientvit_b0": 64, "fastvit_t8": 64, "focalnet_tiny_srf": 64,
                       "gcvit_xxtiny": 224, "ghostnet_100": 64, "gmlp_ti16_224": 224, "hrnet_w18_small": 64, "inception_next_atto": 64, "levit_128s": 224, "mobilenetv4_conv_small": 64,
                       "mvitv2_tiny": 224, "nest_tiny": 224, "nfnet_l0": 64, "pit_ti_224": 224, "poolformer_s12": 64, "pvt_v2_b0": 64, "regnetz_b16": 64, "repvgg_a0": 64, "res2net50_26w_4s": 64,
                       "resnest14d": 64, "rexnet_100": 64, "sequencer2d_s": 224, "tnt_s_patch16_224": 224, "twins_pcpvt_small": 224, "visformer_tiny": 224, "volo_d1_224": 224,
                       "xcit_nano_12_p16_224": 224, "vit_tiny_patch16_siglip_224" if False else "vit_small_patch16_dinov3": 64}.items():
        yield "timm_" + name, lambda name=name: timm.create_model(name), image(size), BATCH


def decoder(t, config, model, **words):
    """A small language model: its logits for two rows of tokens."""
    small = {"vocab_size": 96, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 64, "max_position_embeddings": 64,
             "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, **words}
    small = {k: v for k, v in small.items() if v is not ...}
    make = lambda: Wrapped(getattr(t, model)(getattr(t, config)(**small)), lambda m, tokens: m(tokens, use_cache=False).logits)
    return make, lambda: (ids(2, 12),), ({0: "b", 1: "s"},)


def decoders():
    import transformers as t

    yield "gemma2", *decoder(t, "Gemma2Config", "Gemma2ForCausalLM", head_dim=8, sliding_window=8)
    yield "gemma3", *decoder(t, "Gemma3TextConfig", "Gemma3ForCausalLM", head_dim=8, sliding_window=8)
    yield "phi", *decoder(t, "PhiConfig", "PhiForCausalLM")
    yield "phi3", *decoder(t, "Phi3Config", "Phi3ForCausalLM")
    yield "qwen2", *decoder(t, "Qwen2Config", "Qwen2ForCausalLM")
    yield "qwen3", *decoder(t, "Qwen3Config", "Qwen3ForCausalLM", head_dim=8)
    moe = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "shared_expert_intermediate_size": 16}
    yield "qwen2_moe", *decoder(t, "Qwen2MoeConfig", "Qwen2MoeForCausalLM", **moe)
    yield "qwen3_moe", *decoder(t, "Qwen3MoeConfig", "Qwen3MoeForCausalLM", head_dim=8, **moe)
    yield "mixtral", *decoder(t, "MixtralConfig", "MixtralForCausalLM", num_local_experts=4)
    yield "olmoe", *decoder(t, "OlmoeConfig", "OlmoeForCausalLM", num_experts=4, num_experts_per_tok=2)
    yield "gpt_oss", *decoder(t, "GptOssConfig", "GptOssForCausalLM", head_dim=8, num_local_experts=4, sliding_window=8)
    deepseek = {"num_key_value_heads": 4, "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "kv_lora_rank": 8, "q_lora_rank": 12, "qk_rope_head_dim": 4,
                "qk_nope_head_dim": 8, "v_head_dim": 8, "n_group": 2, "topk_group": 1, "n_shared_experts": 1, "first_k_dense_replace": 1}
    yield "deepseek_v2", *decoder(t, "DeepseekV2Config", "DeepseekV2ForCausalLM", topk_method="group_limited_greedy", **deepseek)
    yield "deepseek_v3", *decoder(t, "DeepseekV3Config", "DeepseekV3ForCausalLM", **deepseek)
    yield "falcon", *decoder(t, "FalconConfig", "FalconForCausalLM", num_key_value_heads=..., intermediate_size=...)
    yield "falcon_alibi", *decoder(t, "FalconConfig", "FalconForCausalLM", num_key_value_heads=..., intermediate_size=..., alibi=True, new_decoder_architecture=False)
    yield "mistral", *decoder(t, "MistralConfig", "MistralForCausalLM", sliding_window=8)
    yield "olmo2", *decoder(t, "Olmo2Config", "Olmo2ForCausalLM")
    yield "cohere", *decoder(t, "CohereConfig", "CohereForCausalLM")
    yield "starcoder2", *decoder(t, "Starcoder2Config", "Starcoder2ForCausalLM")
    yield "stablelm", *decoder(t, "StableLmConfig", "StableLmForCausalLM")
    yield "granite", *decoder(t, "GraniteConfig", "GraniteForCausalLM")
    yield "glm", *decoder(t, "GlmConfig", "GlmForCausalLM", head_dim=8)
    yield "nemotron", *decoder(t, "NemotronConfig", "NemotronForCausalLM")
    yield "smollm3", *decoder(t, "SmolLM3Config", "SmolLM3ForCausalLM")
    yield "gpt_neox", *decoder(t, "GPTNeoXConfig", "GPTNeoXForCausalLM", num_key_value_heads=...)
    yield "gptj", *decoder(t, "GPTJConfig", "GPTJForCausalLM", hidden_size=..., n_embd=32, n_layer=2, n_head=4, rotary_dim=4, n_positions=64, num_hidden_layers=..., num_attention_heads=...,
                           num_key_value_heads=..., intermediate_size=..., max_position_embeddings=...)
    yield "gpt_neo", *decoder(t, "GPTNeoConfig", "GPTNeoForCausalLM", num_layers=2, num_heads=4, attention_types=[[["global", "local"], 1]], window_size=8, num_hidden_layers=...,
                              num_attention_heads=..., num_key_value_heads=...)
    yield "opt", *decoder(t, "OPTConfig", "OPTForCausalLM", ffn_dim=64, word_embed_proj_dim=32, num_key_value_heads=..., intermediate_size=...)
    yield "bloom", *decoder(t, "BloomConfig", "BloomForCausalLM", n_layer=2, n_head=4, num_hidden_layers=..., num_attention_heads=..., num_key_value_heads=..., intermediate_size=...)
    yield "mpt", *decoder(t, "MptConfig", "MptForCausalLM", d_model=32, n_layers=2, n_heads=4, max_seq_len=64, hidden_size=..., num_hidden_layers=..., num_attention_heads=...,
                          num_key_value_heads=..., intermediate_size=..., max_position_embeddings=...)
    yield "codegen", *decoder(t, "CodeGenConfig", "CodeGenForCausalLM", n_embd=32, n_layer=2, n_head=4, rotary_dim=4, n_positions=64, hidden_size=..., num_hidden_layers=...,
                              num_attention_heads=..., num_key_value_heads=..., intermediate_size=..., max_position_embeddings=...)
    state = {"state_size": 4, "num_attention_heads": ..., "num_key_value_heads": ..., "intermediate_size": ..., "max_position_embeddings": ...}
    yield "mamba", *decoder(t, "MambaConfig", "MambaForCausalLM", **state)
    yield "mamba2", *decoder(t, "Mamba2Config", "Mamba2ForCausalLM", **{**state, "num_heads": 8, "head_dim": 8, "n_groups": 2, "chunk_size": 4})
    yield "falcon_mamba", *decoder(t, "FalconMambaConfig", "FalconMambaForCausalLM", **state)
    yield "rwkv", *decoder(t, "RwkvConfig", "RwkvForCausalLM", num_attention_heads=..., num_key_value_heads=..., max_position_embeddings=...)
    yield "recurrent_gemma", *decoder(t, "RecurrentGemmaConfig", "RecurrentGemmaForCausalLM", lru_width=32, attention_window_size=8, head_dim=8, num_hidden_layers=3)
    yield "jamba", *decoder(t, "JambaConfig", "JambaForCausalLM", num_experts=2, num_hidden_layers=4, attn_layer_period=2, attn_layer_offset=1, expert_layer_period=2, use_mamba_kernels=False,
                            mamba_d_state=4)
    yield "zamba2", *decoder(t, "Zamba2Config", "Zamba2ForCausalLM", num_hidden_layers=3, mamba_d_state=4, n_mamba_heads=4, mamba_ngroups=1, use_mamba_kernels=False, hybrid_layer_ids=[1],
                             layers_block_type=["mamba", "hybrid", "mamba"], chunk_size=4, num_key_value_heads=4)
    yield "persimmon", *decoder(t, "PersimmonConfig", "PersimmonForCausalLM", num_key_value_heads=...)
    yield "dbrx", *decoder(t, "DbrxConfig", "DbrxForCausalLM", d_model=32, n_layers=2, n_heads=4, max_seq_len=64, ffn_config={"ffn_hidden_size": 32, "moe_num_experts": 4, "moe_top_k": 2},
                           attn_config={"kv_n_heads": 2, "clip_qkv": 8}, hidden_size=..., num_hidden_layers=..., num_attention_heads=..., num_key_value_heads=..., intermediate_size=...)
    yield "xglm", *decoder(t, "XGLMConfig", "XGLMForCausalLM", d_model=32, ffn_dim=64, num_layers=2, attention_heads=4, hidden_size=..., num_hidden_layers=..., num_attention_heads=...,
                           num_key_value_heads=..., intermediate_size=...)


def encoder(t, config, model, **words):
    small = {"vocab_size": 96, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "max_position_embeddings": 64, "pad_token_id": 0, **words}
    small = {k: v for k, v in small.items() if v is not ...}

    def mask():
        made = torch.ones(2, 12, dtype=torch.int64)
        made[1, 9:] = 0
        return made
    make = lambda: Wrapped(getattr(t, model)(getattr(t, config)(**small)), lambda m, tokens, mask: m(tokens, attention_mask=mask)[0])
    return make, lambda: (ids(2, 12), mask()), ({0: "b", 1: "s"}, {0: "b", 1: "s"})


def encoders():
    import transformers as t

    yield "roberta", *encoder(t, "RobertaConfig", "RobertaForMaskedLM", pad_token_id=1)
    yield "deberta", *encoder(t, "DebertaConfig", "DebertaModel", relative_attention=True, pos_att_type=["c2p", "p2c"], max_relative_positions=16)
    yield "deberta_v2", *encoder(t, "DebertaV2Config", "DebertaV2ForSequenceClassification", relative_attention=True, pos_att_type=["c2p", "p2c"], position_buckets=8, share_att_key=True)
    yield "electra", *encoder(t, "ElectraConfig", "ElectraModel", embedding_size=16)
    yield "xlnet", *encoder(t, "XLNetConfig", "XLNetModel", d_model=32, n_layer=2, n_head=4, d_inner=64, hidden_size=..., num_hidden_layers=..., num_attention_heads=...,
                            intermediate_size=..., max_position_embeddings=...)
    yield "albert", *encoder(t, "AlbertConfig", "AlbertModel", embedding_size=16)
    yield "distilbert", *encoder(t, "DistilBertConfig", "DistilBertModel", dim=32, n_layers=2, n_heads=4, hidden_dim=64, hidden_size=..., num_hidden_layers=..., num_attention_heads=...,
                                 intermediate_size=...)
    yield "mpnet", *encoder(t, "MPNetConfig", "MPNetModel", pad_token_id=1)
    yield "modernbert", *encoder(t, "ModernBertConfig", "ModernBertModel", local_attention=8, bos_token_id=1, eos_token_id=2, cls_token_id=1, sep_token_id=2)
    yield "longformer", *encoder(t, "LongformerConfig", "LongformerModel", attention_window=4, pad_token_id=1)
    yield "big_bird", *encoder(t, "BigBirdConfig", "BigBirdModel", attention_type="original_full")
    yield "funnel", *encoder(t, "FunnelConfig", "FunnelModel", block_sizes=[1, 1], d_model=32, n_head=4, d_head=8, d_inner=64, hidden_size=..., num_hidden_layers=..., num_attention_heads=...,
                             intermediate_size=...)
    yield "convbert", *encoder(t, "ConvBertConfig", "ConvBertModel", embedding_size=32)
    yield "squeezebert", *encoder(t, "SqueezeBertConfig", "SqueezeBertModel", embedding_size=32)
    yield "mobilebert", *encoder(t, "MobileBertConfig", "MobileBertModel", embedding_size=32, intra_bottleneck_size=32, true_hidden_size=32)
    yield "fnet", lambda: Wrapped(t.FNetModel(t.FNetConfig(vocab_size=96, hidden_size=32, num_hidden_layers=2, intermediate_size=64)), lambda m, x: m(x)[0]), lambda: (ids(2, 12),), ({0: "b"},)
    yield "ibert", *encoder(t, "IBertConfig", "IBertModel", pad_token_id=1, quant_mode=True)
    yield "t5_encoder", lambda: Wrapped(t.T5EncoderModel(t.T5Config(vocab_size=96, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4)), lambda m, x, k: m(x, attention_mask=k)[0]), \
        lambda: (ids(2, 12), torch.ones(2, 12, dtype=torch.int64)), ({0: "b", 1: "s"}, {0: "b", 1: "s"})
    small = dict(vocab_size=96, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64,
                 max_position_embeddings=64, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=2)
    both = lambda m, x, y: m(input_ids=x, decoder_input_ids=y, use_cache=False).logits
    for name in ("Bart", "Pegasus", "Marian", "M2M100", "BlenderbotSmall"):
        config, model = getattr(t, name + "Config"), {"Marian": "MarianMTModel"}.get(name, name + "ForConditionalGeneration")
        yield name.lower(), lambda config=config, model=model: Wrapped(getattr(t, model)(config(**small)), both), lambda: (ids(2, 9), ids(2, 5)), ({0: "b", 1: "s"}, {0: "b", 1: "u"})
    mt5 = lambda: Wrapped(t.UMT5ForConditionalGeneration(t.UMT5Config(vocab_size=96, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, decoder_start_token_id=0)), both)
    yield "umt5", mt5, lambda: (ids(2, 9), ids(2, 5)), ({0: "b", 1: "s"}, {0: "b", 1: "u"})


def pictures():
    import transformers as t

    small = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "image_size": 32, "patch_size": 8}
    text = {"vocab_size": 96, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "max_position_embeddings": 16, "bos_token_id": 1, "eos_token_id": 2,
            "pad_token_id": 0}
    clip = lambda: Wrapped(t.CLIPModel(t.CLIPConfig(text_config=text, vision_config=small, projection_dim=16)), lambda m, x, i: (lambda o: (o.logits_per_image, o.text_embeds))(m(x, i)))
    yield "clip", clip, lambda: (ids(2, 12), torch.randn(2, 3, 32, 32)), ({0: "b", 1: "s"}, {0: "c"})
    siglip = lambda: Wrapped(t.SiglipModel(t.SiglipConfig(text_config=text, vision_config=small)), lambda m, x, i: m(x, i).logits_per_image)
    yield "siglip", siglip, lambda: (ids(2, 12), torch.randn(2, 3, 32, 32)), ({0: "b"}, {0: "c"})
    sam = lambda: Wrapped(t.SamModel(t.SamConfig(vision_config={**small, "image_size": 64, "window_size": 2, "global_attn_indexes": [1], "output_channels": 16, "num_pos_feats": 8, "mlp_dim": 64},
                                                 prompt_encoder_config={"hidden_size": 16, "image_size": 64, "patch_size": 8, "mask_input_channels": 4},
                                                 mask_decoder_config={"hidden_size": 16, "mlp_dim": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "iou_head_hidden_dim": 16})),
                          lambda m, i, p: (lambda o: (o.pred_masks, o.iou_scores))(m(pixel_values=i, input_points=p)))
    yield "sam", sam, lambda: (torch.randn(1, 3, 64, 64), torch.rand(1, 1, 2, 2) * 60), None
    for name in ("ViT", "DeiT", "Beit", "Dinov2", "ViTMAE", "IJepa", "YolosModel"):
        name = name.removesuffix("Model")
        config = {**small, "image_size": [32, 32]} if name == "Yolos" else small
        call = lambda m, i: m(i)[0]
        if name == "ViTMAE":
            call = lambda m, i: m(i, noise=torch.linspace(0, 1, 16).expand(i.shape[0], 16))[0]
        yield name.lower(), lambda name=name, config=config, call=call: Wrapped(getattr(t, name + "Model")(getattr(t, name + "Config")(**config)), call), image(32), BATCH
    swin = {"image_size": 64, "patch_size": 4, "embed_dim": 8, "depths": [2, 2], "num_heads": [2, 2], "window_size": 4}
    yield "hf_swin", lambda: Wrapped(t.SwinModel(t.SwinConfig(**swin)), lambda m, i: m(i)[0]), image(64), BATCH
    yield "hf_swinv2", lambda: Wrapped(t.Swinv2Model(t.Swinv2Config(**swin)), lambda m, i: m(i)[0]), image(64), BATCH
    yield "segformer", lambda: Wrapped(t.SegformerForSemanticSegmentation(t.SegformerConfig(hidden_sizes=[8, 16, 16, 16], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 2, 2],
                                                                                           decoder_hidden_size=16)), lambda m, i: m(i).logits), image(64), BATCH
    yield "mobilevit_hf", lambda: Wrapped(t.MobileViTModel(t.MobileViTConfig(image_size=64)), lambda m, i: m(i)[0]), image(64), BATCH
    yield "levit_hf", lambda: Wrapped(t.LevitModel(t.LevitConfig(image_size=64, hidden_sizes=[16, 24, 32], num_attention_heads=[2, 3, 4], key_dim=[8, 8, 8])), lambda m, i: m(i)[0]), image(64), BATCH
    yield "pvt_hf", lambda: Wrapped(t.PvtModel(t.PvtConfig(image_size=64, hidden_sizes=[8, 16, 16, 16], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 2, 2])), lambda m, i: m(i)[0]), image(64), BATCH
    yield "dpt", lambda: Wrapped(t.DPTForDepthEstimation(t.DPTConfig(**{**small, "num_hidden_layers": 4, "backbone_out_indices": [0, 1, 2, 3], "neck_hidden_sizes": [8, 8, 8, 8],
                                                                    "fusion_hidden_size": 8, "is_hybrid": False})), lambda m, i: m(i).predicted_depth), image(32), BATCH
    resnet = t.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16, 16, 16], depths=[1, 1, 1, 1], out_features=["stage4"])
    detr = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16, "num_queries": 5}
    found = lambda m, i: (lambda o: (o.logits, o.pred_boxes))(m(i))
    for name in ("Detr", "ConditionalDetr", "DeformableDetr", "TableTransformer"):
        config = dict(detr, backbone_config=resnet if name != "DeformableDetr" else t.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16, 16, 16], depths=[1, 1, 1, 1],
                                                                                                  out_features=["stage2", "stage3", "stage4"]))
        if name != "DeformableDetr":
            config.update(use_timm_backbone=False, use_pretrained_backbone=False)
        yield name.lower(), lambda name=name, config=config: Wrapped(getattr(t, name + "ForObjectDetection")(getattr(t, name + "Config")(**config)), found), image(64), BATCH
    yield "blip", lambda: Wrapped(t.BlipForImageTextRetrieval(t.BlipConfig(text_config={**text, "encoder_hidden_size": 32}, vision_config=small, image_text_hidden_size=16)),
                                  lambda m, x, i: m(x, i)[0]), lambda: (ids(2, 12), torch.randn(2, 3, 32, 32)), ({0: "b"}, {0: "b"})
    yield "owlvit", lambda: Wrapped(t.OwlViTForObjectDetection(t.OwlViTConfig(text_config=text, vision_config=small, projection_dim=16)),
                                    lambda m, x, i: (lambda o: (o.logits, o.pred_boxes))(m(x, i))), lambda: (ids(2, 12), torch.randn(2, 3, 32, 32)), None
    yield "convnext_hf", lambda: Wrapped(t.ConvNextV2Model(t.ConvNextV2Config(hidden_sizes=[8, 16, 16, 16], depths=[1, 1, 1, 1])), lambda m, i: m(i)[0]), image(64), BATCH
    yield "perceiver", lambda: Wrapped(t.PerceiverModel(t.PerceiverConfig(num_latents=8, d_latents=16, d_model=16, num_blocks=1, num_self_attends_per_block=2, num_self_attention_heads=2,
                                                                          num_cross_attention_heads=2)), lambda m, x: m(x)[0]), lambda: (torch.randn(2, 10, 16),), ({0: "b", 1: "s"},)


def sounds():
    import transformers as t

    small = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "conv_dim": [16, 16], "conv_kernel": [8, 4], "conv_stride": [4, 2],
             "num_feat_extract_layers": 2, "num_conv_pos_embeddings": 8, "num_conv_pos_embedding_groups": 4, "vocab_size": 20}
    wave = lambda: (torch.randn(2, 800),)
    for name in ("Wav2Vec2", "Hubert", "WavLM", "UniSpeech", "SEW", "Data2VecAudio", "Wav2Vec2Conformer"):
        words = dict(small)
        if name == "SEW":
            words.update(squeeze_factor=2)
        yield name.lower(), lambda name=name, words=words: Wrapped(getattr(t, name + "ForCTC")(getattr(t, name + "Config")(**words)), lambda m, x: m(x).logits), wave, BATCH
    vits = dict(vocab_size=40, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, ffn_dim=16, flow_size=8, spectrogram_bins=9, upsample_initial_channel=16, upsample_rates=[4, 4],
                upsample_kernel_sizes=[8, 8], resblock_kernel_sizes=[3], resblock_dilation_sizes=[[1, 3]], wavenet_dilation_rate=1, prior_encoder_num_flows=2, prior_encoder_num_wavenet_layers=2,
                posterior_encoder_num_wavenet_layers=2, duration_predictor_filter_channels=16, noise_scale=0.0, noise_scale_duration=0.0, use_stochastic_duration_prediction=False)
    yield "vits_text", lambda: Wrapped(t.VitsModel(t.VitsConfig(**vits)), lambda m, x: m.text_encoder(x, torch.ones_like(x).unsqueeze(-1).float())[0]), lambda: (ids(1, 9, top=40),), ({1: "s"},)
    yield "vits_decoder", lambda: Wrapped(t.VitsModel(t.VitsConfig(**vits)), lambda m, x: m.decoder(x)), lambda: (torch.randn(2, 8, 7),), ({0: "b", 2: "s"},)
    yield "vits", lambda: Wrapped(t.VitsModel(t.VitsConfig(**vits)), lambda m, x: m(x).waveform), lambda: (ids(1, 9, top=40),), None
    yield "encodec", lambda: Wrapped(t.EncodecModel(t.EncodecConfig(num_filters=4, hidden_size=8, codebook_size=16, codebook_dim=8, upsampling_ratios=[4, 2], target_bandwidths=[1.5],
                                                                    sampling_rate=800)), lambda m, x: m.encoder(x)), lambda: (torch.randn(1, 1, 320),), None
    yield "ast", lambda: Wrapped(t.ASTModel(t.ASTConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, max_length=64, num_mel_bins=32)), lambda m, x: m(x)[0]), \
        lambda: (torch.randn(2, 64, 32),), BATCH
    yield "speecht5_hifigan", lambda: t.SpeechT5HifiGan(t.SpeechT5HifiGanConfig(model_in_dim=8, upsample_initial_channel=16)), lambda: (torch.randn(2, 6, 8),), ({0: "b"},)


def families():
    return {"vision": vision, "timm": timm_models, "decoders": decoders, "encoders": encoders, "pictures": pictures, "sounds": sounds}

from transformers import OPTForCausalLM


class OwnForCausalLM(OPTForCausalLM):
    pass

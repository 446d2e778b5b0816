// Silero VAD v5, 16 kHz branch: one 512-sample frame with its 64-sample context in, one probability out.
// Freestanding C for wasm32 with SIMD. The host writes the packed weights to `model()` once, and each frame's
// samples to `input()`; the memory from `streams()` on holds the streams. Nothing is allocated here.

#include <stdint.h>
#include <wasm_simd128.h>

#define FRAME 512
#define CONTEXT 64
#define FFT 256
#define HALF 128
#define BINS 129
#define STEPS 4 // STFT steps of one frame; one per SIMD lane
#define HIDDEN 128

// The order and the packing are those of pack-weights.ts.
struct Model {
  float window[FFT];
  float fft_twiddle[HALF / 2][2];
  float split_twiddle[HALF][2];
  float enc0[16][BINS][3][8];
  float enc0_bias[128];
  float enc1[4][128][3][16];
  float enc1_bias[64];
  float enc2[2][64][2][32];
  float enc2_bias[64];
  float enc3[4][64][32];
  float enc3_bias[128];
  float lstm[16][2 * HIDDEN][32];
  float lstm_bias[16][32];
  float out[HIDDEN];
  float out_bias[4];
};

struct Stream {
  float hidden[HIDDEN];
  float cell[HIDDEN];
  float context[CONTEXT];
};

static struct Model weights __attribute__((aligned(16)));
static int16_t samples_in[FRAME] __attribute__((aligned(16)));

#define EXPORT(name) __attribute__((export_name(name)))

EXPORT("model") void *model(void) { return &weights; }
EXPORT("model_bytes") uint32_t model_bytes(void) { return sizeof(struct Model); }
EXPORT("input") void *input(void) { return samples_in; }
// Set by the linker to the end of our data.
extern unsigned char __heap_base;
EXPORT("streams") void *streams(void) { return &__heap_base; }
EXPORT("stream_bytes") uint32_t stream_bytes(void) { return sizeof(struct Stream); }

static inline v128_t add(v128_t a, v128_t b) { return wasm_f32x4_add(a, b); }
static inline v128_t sub(v128_t a, v128_t b) { return wasm_f32x4_sub(a, b); }
static inline v128_t mul(v128_t a, v128_t b) { return wasm_f32x4_mul(a, b); }
static inline v128_t splat(float a) { return wasm_f32x4_splat(a); }
static inline v128_t spread(const float *p) { return wasm_v128_load32_splat(p); }
static inline v128_t load(const float *p) { return wasm_v128_load(p); }
static inline void store(float *p, v128_t a) { wasm_v128_store(p, a); }
static inline v128_t relu(v128_t a) { return wasm_f32x4_pmax(a, splat(0)); }

// ---- Short-time Fourier transform: four steps of 256 samples, one per lane -------------------------------

static v128_t fft_a[HALF][2];
static v128_t fft_b[HALF][2];

// Complex FFT of 128 points in `fft_a` (Stockham, radix 2). Seven passes: the result lies in `fft_b`.
static void fft128(void) {
  v128_t (*from)[2] = fft_a;
  v128_t (*to)[2] = fft_b;
  for (int half = HALF / 2, run = 1; half >= 1; half >>= 1, run <<= 1) {
    for (int j = 0; j < half; j++) {
      const v128_t wr = spread(&weights.fft_twiddle[j * run][0]);
      const v128_t wi = spread(&weights.fft_twiddle[j * run][1]);
      for (int k = 0; k < run; k++) {
        const v128_t *a = from[k + run * j];
        const v128_t *b = from[k + run * (j + half)];
        v128_t *sum = to[k + run * 2 * j];
        v128_t *diff = to[k + run * (2 * j + 1)];
        const v128_t dr = sub(a[0], b[0]);
        const v128_t di = sub(a[1], b[1]);
        sum[0] = add(a[0], b[0]);
        sum[1] = add(a[1], b[1]);
        diff[0] = sub(mul(dr, wr), mul(di, wi));
        diff[1] = add(mul(dr, wi), mul(di, wr));
      }
    }
    v128_t (*swap)[2] = from;
    from = to;
    to = swap;
  }
}

static inline v128_t magnitude(v128_t re, v128_t im) {
  return wasm_f32x4_sqrt(add(mul(re, re), mul(im, im)));
}

// Magnitudes of the real signal's 129 bins, from the FFT of its even and odd samples as one complex signal.
static void magnitudes(v128_t *bins) {
  const v128_t half = splat(0.5f);
  const v128_t(*z)[2] = (const v128_t(*)[2])fft_b;
  bins[0] = wasm_f32x4_abs(add(z[0][0], z[0][1]));
  bins[HALF] = wasm_f32x4_abs(sub(z[0][0], z[0][1]));
  for (int k = 1; k < HALF; k++) {
    const v128_t *a = z[k];
    const v128_t *b = z[HALF - k];
    const v128_t even_re = mul(half, add(a[0], b[0]));
    const v128_t even_im = mul(half, sub(a[1], b[1]));
    const v128_t odd_re = mul(half, add(a[1], b[1]));
    const v128_t odd_im = mul(half, sub(b[0], a[0]));
    const v128_t wr = spread(&weights.split_twiddle[k][0]);
    const v128_t wi = spread(&weights.split_twiddle[k][1]);
    const v128_t re = add(even_re, sub(mul(odd_re, wr), mul(odd_im, wi)));
    const v128_t im = add(even_im, add(mul(odd_re, wi), mul(odd_im, wr)));
    bins[k] = magnitude(re, im);
  }
}

static float padded[CONTEXT + FRAME + CONTEXT] __attribute__((aligned(16)));

// Context, frame and 64 samples of reflection at the end, as the model's own padding does.
static void gather(struct Stream *stream) {
  for (int i = 0; i < CONTEXT; i += 4) store(padded + i, load(stream->context + i));
  const v128_t scale = splat(1.0f / 32768.0f);
  for (int i = 0; i < FRAME; i += 4) {
    const v128_t ints = wasm_i32x4_load16x4(samples_in + i);
    store(padded + CONTEXT + i, mul(wasm_f32x4_convert_i32x4(ints), scale));
  }
  for (int i = 0; i < CONTEXT; i += 4) store(stream->context + i, load(padded + FRAME + i));
  float *end = padded + CONTEXT + FRAME;
  for (int i = 0; i < CONTEXT; i++) end[i] = end[-2 - i];
}

static inline v128_t sample_of_each_step(int n) {
  const v128_t lanes =
      wasm_f32x4_make(padded[n], padded[n + HALF], padded[n + 2 * HALF], padded[n + 3 * HALF]);
  return mul(lanes, spread(&weights.window[n]));
}

static void spectrum(v128_t *bins) {
  for (int i = 0; i < HALF; i++) {
    fft_a[i][0] = sample_of_each_step(2 * i);
    fft_a[i][1] = sample_of_each_step(2 * i + 1);
  }
  fft128();
  magnitudes(bins);
}

// ---- Encoder: four convolutions of width 3. Steps beyond the edges are zero and are left out -------------

static float bins_of[BINS][STEPS] __attribute__((aligned(16)));
static float enc0_of[128][STEPS] __attribute__((aligned(16)));
static float enc1_of[64][2] __attribute__((aligned(16)));
static float enc2_of[64] __attribute__((aligned(16)));
static float enc3_of[128] __attribute__((aligned(16)));

// 129 → 128 channels, stride 1, 4 → 4 steps; 8 channels at a time.
static void encode0(void) {
  for (int block = 0; block < 16; block++) {
    v128_t lo[STEPS], hi[STEPS];
    for (int t = 0; t < STEPS; t++) {
      lo[t] = load(weights.enc0_bias + block * 8);
      hi[t] = load(weights.enc0_bias + block * 8 + 4);
    }
    for (int i = 0; i < BINS; i++) {
      const float(*w)[8] = weights.enc0[block][i];
      const float *x = bins_of[i];
      const v128_t x0 = spread(x), x1 = spread(x + 1), x2 = spread(x + 2), x3 = spread(x + 3);
      for (int part = 0; part < 2; part++) {
        v128_t *s = part ? hi : lo;
        const v128_t w0 = load(w[0] + part * 4), w1 = load(w[1] + part * 4), w2 = load(w[2] + part * 4);
        s[0] = add(s[0], add(mul(w1, x0), mul(w2, x1)));
        s[1] = add(s[1], add(mul(w0, x0), add(mul(w1, x1), mul(w2, x2))));
        s[2] = add(s[2], add(mul(w0, x1), add(mul(w1, x2), mul(w2, x3))));
        s[3] = add(s[3], add(mul(w0, x2), mul(w1, x3)));
      }
    }
    // One row per channel, one column per step.
    for (int part = 0; part < 2; part++) {
      const v128_t *s = part ? hi : lo;
      float(*rows)[STEPS] = &enc0_of[block * 8 + part * 4];
      for (int t = 0; t < STEPS; t++) {
        const v128_t r = relu(s[t]);
        rows[0][t] = wasm_f32x4_extract_lane(r, 0);
        rows[1][t] = wasm_f32x4_extract_lane(r, 1);
        rows[2][t] = wasm_f32x4_extract_lane(r, 2);
        rows[3][t] = wasm_f32x4_extract_lane(r, 3);
      }
    }
  }
}

// 128 → 64 channels, stride 2, 4 → 2 steps; 16 channels at a time.
static void encode1(void) {
  for (int block = 0; block < 4; block++) {
    v128_t first[4], second[4];
    for (int v = 0; v < 4; v++) first[v] = second[v] = load(weights.enc1_bias + block * 16 + v * 4);
    for (int i = 0; i < 128; i++) {
      const float(*w)[16] = weights.enc1[block][i];
      const float *x = enc0_of[i];
      const v128_t x0 = spread(x), x1 = spread(x + 1), x2 = spread(x + 2), x3 = spread(x + 3);
      for (int v = 0; v < 4; v++) {
        const v128_t w0 = load(w[0] + v * 4), w1 = load(w[1] + v * 4), w2 = load(w[2] + v * 4);
        first[v] = add(first[v], add(mul(w1, x0), mul(w2, x1)));
        second[v] = add(second[v], add(mul(w0, x1), add(mul(w1, x2), mul(w2, x3))));
      }
    }
    for (int v = 0; v < 4; v++) {
      float a[4], b[4];
      store(a, relu(first[v]));
      store(b, relu(second[v]));
      for (int lane = 0; lane < 4; lane++) {
        enc1_of[block * 16 + v * 4 + lane][0] = a[lane];
        enc1_of[block * 16 + v * 4 + lane][1] = b[lane];
      }
    }
  }
}

// 64 → 64 channels, stride 2, 2 → 1 step: taps 1 and 2 alone meet a sample. 32 channels at a time.
static void encode2(void) {
  for (int block = 0; block < 2; block++) {
    v128_t sum[8];
    for (int v = 0; v < 8; v++) sum[v] = load(weights.enc2_bias + block * 32 + v * 4);
    for (int i = 0; i < 64; i++) {
      const float(*w)[32] = weights.enc2[block][i];
      const v128_t x0 = spread(&enc1_of[i][0]), x1 = spread(&enc1_of[i][1]);
      for (int v = 0; v < 8; v++) {
        sum[v] = add(sum[v], add(mul(load(w[0] + v * 4), x0), mul(load(w[1] + v * 4), x1)));
      }
    }
    for (int v = 0; v < 8; v++) store(enc2_of + block * 32 + v * 4, relu(sum[v]));
  }
}

// 64 → 128 channels on one step: the middle tap alone meets a sample. 32 channels at a time.
static void encode3(void) {
  for (int block = 0; block < 4; block++) {
    v128_t sum[8];
    for (int v = 0; v < 8; v++) sum[v] = load(weights.enc3_bias + block * 32 + v * 4);
    for (int i = 0; i < 64; i++) {
      const v128_t x = spread(enc2_of + i);
      for (int v = 0; v < 8; v++) sum[v] = add(sum[v], mul(load(weights.enc3[block][i] + v * 4), x));
    }
    for (int v = 0; v < 8; v++) store(enc3_of + block * 32 + v * 4, relu(sum[v]));
  }
}

// ---- Decoder: one LSTM cell, then a dot product ----------------------------------------------------------

// e to the power of x within 2 units in the last place, for |x| ≤ 87 (beyond it is held there).
static v128_t exponential(v128_t x) {
  x = wasm_f32x4_pmin(wasm_f32x4_pmax(x, splat(-87.0f)), splat(87.0f));
  const v128_t n = wasm_f32x4_nearest(mul(x, splat(1.44269504088896341f)));
  // ln 2 in two parts, so that the remainder keeps its low bits.
  v128_t r = sub(x, mul(n, splat(0.693359375f)));
  r = sub(r, mul(n, splat(-2.12194440e-4f)));
  v128_t p = splat(1.9875691500e-4f);
  p = add(mul(p, r), splat(1.3981999507e-3f));
  p = add(mul(p, r), splat(8.3334519073e-3f));
  p = add(mul(p, r), splat(4.1665795894e-2f));
  p = add(mul(p, r), splat(1.6666665459e-1f));
  p = add(mul(p, r), splat(5.0000001201e-1f));
  p = add(add(mul(p, mul(r, r)), r), splat(1.0f));
  const v128_t exponent = wasm_i32x4_add(wasm_i32x4_trunc_sat_f32x4(n), wasm_i32x4_splat(127));
  return mul(p, wasm_i32x4_shl(exponent, 23));
}

static inline v128_t sigmoid(v128_t x) {
  const v128_t one = splat(1.0f);
  return wasm_f32x4_div(one, add(one, exponential(wasm_f32x4_neg(x))));
}

static inline v128_t hyperbolic_tangent(v128_t x) {
  const v128_t one = splat(1.0f);
  const v128_t e = exponential(mul(splat(-2.0f), x));
  return wasm_f32x4_div(sub(one, e), add(one, e));
}

// Four products are summed before they meet the long sum: fewer roundings on the large number.
static inline void accumulate(v128_t *gates, const float (*rows)[32], const float *x) {
  for (int i = 0; i < HIDDEN; i += 4) {
    const v128_t x0 = spread(x + i), x1 = spread(x + i + 1), x2 = spread(x + i + 2), x3 = spread(x + i + 3);
    for (int v = 0; v < 8; v++) {
      const float *w = rows[i] + v * 4;
      const v128_t first = add(mul(load(w), x0), mul(load(w + 32), x1));
      const v128_t second = add(mul(load(w + 64), x2), mul(load(w + 96), x3));
      gates[v] = add(gates[v], add(first, second));
    }
  }
}

// 8 hidden units at a time; a row holds their gates in the order input, forget, cell, output.
static void lstm(struct Stream *stream) {
  float hidden[HIDDEN] __attribute__((aligned(16)));
  for (int block = 0; block < 16; block++) {
    v128_t gates[8];
    for (int v = 0; v < 8; v++) gates[v] = load(weights.lstm_bias[block] + v * 4);
    accumulate(gates, weights.lstm[block], enc3_of);
    accumulate(gates, weights.lstm[block] + HIDDEN, stream->hidden);
    for (int v = 0; v < 2; v++) {
      float *cell = stream->cell + block * 8 + v * 4;
      const v128_t added = mul(sigmoid(gates[v]), hyperbolic_tangent(gates[4 + v]));
      const v128_t kept = add(mul(sigmoid(gates[2 + v]), load(cell)), added);
      store(cell, kept);
      store(hidden + block * 8 + v * 4, mul(sigmoid(gates[6 + v]), hyperbolic_tangent(kept)));
    }
  }
  for (int i = 0; i < HIDDEN; i += 4) store(stream->hidden + i, load(hidden + i));
}

static float decide(const struct Stream *stream) {
  v128_t sum = load(weights.out_bias);
  for (int i = 0; i < HIDDEN; i += 4) {
    sum = add(sum, mul(relu(load(stream->hidden + i)), load(weights.out + i)));
  }
  const float logit = wasm_f32x4_extract_lane(sum, 0) + wasm_f32x4_extract_lane(sum, 1) +
                      wasm_f32x4_extract_lane(sum, 2) + wasm_f32x4_extract_lane(sum, 3);
  return wasm_f32x4_extract_lane(sigmoid(splat(logit)), 0);
}

// Judges the 512 samples at `input()` as the next frame of `stream`; 0 to 1.
EXPORT("probability") float probability(struct Stream *stream) {
  gather(stream);
  spectrum((v128_t *)bins_of);
  encode0();
  encode1();
  encode2();
  encode3();
  lstm(stream);
  return decide(stream);
}

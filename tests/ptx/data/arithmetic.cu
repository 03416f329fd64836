// Integer and floating-point arithmetic of every width, and conversions through inline assembly.
__global__ void integers(unsigned* u, int* s, long long* l, unsigned long long* ul, short* h) {
  const int i = threadIdx.x;
  u[i] = __brev(u[i]) + __byte_perm(u[i], u[1], 0x3210) + __funnelshift_l(u[i], u[2], u[3]) + __umulhi(u[i], u[4]) +
         __ffs(u[i]) + __popc(u[i]) + __clz(u[i]) + u[i] / u[5] + u[i] % 7 + min(u[i], u[6]);
  s[i] = s[i] / s[1] + s[i] % s[2] + abs(s[i]) + max(s[i], s[3]) + __mulhi(s[i], s[4]) + __dp4a(s[i], s[5], s[6]) +
         (s[i] >> 3) + (s[i] << u[2]) + __sad(s[i], s[2], u[3]);
  l[i] = l[i] / l[i + 1] + l[i] % 7 + __mul64hi(l[i], l[i + 1]) + __popcll(l[i]) + __clzll(l[i]);
  ul[i] = ul[i] * ul[1] + static_cast<unsigned long long>(u[i]) * u[3] + (ul[i] >> 5);
  h[i] = static_cast<short>(h[i] * h[1] - h[2]);
  s[99] = (static_cast<unsigned>(s[7]) >> 5) & 0x7f;
}

__global__ void floats(float* f, double* d, int* s) {
  const int i = threadIdx.x;
  f[i] = __expf(f[i]) + __sinf(f[i]) + __cosf(f[1]) + __log2f(f[2]) + rsqrtf(f[i]) + __fdividef(f[i], f[i + 1]) +
         sqrtf(f[i]) + f[i] / f[i + 2] + sinf(f[3]) + powf(f[i], f[1]) + tanhf(f[i]) + __saturatef(f[i]);
  f[i + 9] = fminf(f[i], f[2]) + fabsf(f[i]) + copysignf(f[i], f[2]) + roundf(f[i]) + floorf(f[i + 1]) +
             __fmaf_rz(f[i], f[1], f[2]) + __frcp_rn(f[4]) + __fsqrt_ru(f[5]);
  d[i] = d[i] / d[i + 1] + sqrt(d[i]) + fma(d[i], d[i], d[2]) + exp(d[i]) + fmax(d[i], d[1]);
  s[i] = static_cast<int>(f[i]) + static_cast<int>(d[i]) + __float2int_rn(f[2]) + __double2loint(d[3]);
  d[99] = static_cast<double>(s[3]) + static_cast<double>(f[3]);
}

__global__ void conversions(float* f, unsigned* u, unsigned short* h) {
  float a = f[0], b = f[1], back;
  unsigned pair, tf32;
  unsigned short half, brain, bytes;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(a));
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(brain) : "f"(b));
  asm("{cvt.f32.f16 %0, %1;}" : "=f"(back) : "h"(half));
  f[2] = back;
  asm("{ cvt.f32.bf16 %0, %1;}\n" : "=f"(back) : "h"(brain));
  f[3] = back;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(a), "f"(b));
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(bytes) : "f"(a), "f"(b));
  h[0] = bytes;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(u[1]) : "h"(bytes));
  asm("cvt.rn.satfinite.e5m2x2.f16x2 %0, %1;" : "=h"(h[1]) : "r"(pair));
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(tf32) : "f"(a));
  asm("{.reg .b16 low, high;\n mov.b32 {low, high}, %1;\n fma.rn.f16 low, low, high, low;\n"
      " add.f16 high, low, high;\n mov.b32 %0, {low, high};}" : "=r"(u[0]) : "r"(pair));
  asm("{.reg .pred p;\n setp.gt.f32 p, %1, 0f00000000;\n selp.b32 %0, 1, 0, p;}" : "=r"(u[2]) : "f"(a));
  asm("{fma.rn.relu.bf16x2 %0, %1, %1, %1;\n}" : "=r"(u[3]) : "r"(pair));
  asm("ex2.approx.ftz.bf16x2 %0, %1;" : "=r"(u[4]) : "r"(pair));
  u[5] = tf32;
}

/* maths_numbers.h - minimax polynomials of maths.c, lowest coefficient first.
 * Made by tools/gen_maths.py; do not edit. */
/* clang-format off */
#ifndef CB_BASE_MATHS_NUMBERS_H
#define CB_BASE_MATHS_NUMBERS_H

/* 2 atanh(s) / s - 2 = z (c_0 + c_1 z + ...), z = s^2; error 1.6e-18. */
static const double log_tail[7] = {
    0x1.5555555555593p-1,
    0x1.999999997fb4dp-2,
    0x1.2492494217070p-2,
    0x1.c71c51e7e4f37p-3,
    0x1.7466464542cf2p-3,
    0x1.39a0f10664762p-3,
    0x1.2f0dc17e21058p-3,
};

/* cos(2 pi f) - 1 = z (c_0 + c_1 z + ...), z = f^2 <= 1/64; error 2.1e-17. */
static const double cos_turn[8] = {
    -0x1.3bd3cc9be45dep+4,
    0x1.03c1f081b5ac4p+6,
    -0x1.55d3c7e3cbfefp+6,
    0x1.e1f5068919cd4p+5,
    -0x1.a6d1f29f3f5e8p+4,
    0x1.f9d3856dd31d9p+2,
    -0x1.b6dd82a267d4dp+0,
    0x1.1e2f8673d841fp-2,
};

/* sin(2 pi f) / f - 2 pi = z (c_0 + c_1 z + ...), z = f^2; error 4.4e-18. */
static const double sin_turn[8] = {
    -0x1.4abbce625be53p+5,
    0x1.466bc6775aae2p+6,
    -0x1.32d2cce62bd82p+6,
    0x1.50783487edd9cp+5,
    -0x1.e3074fdcb3051p+3,
    0x1.e8f431a50611dp+1,
    -0x1.6faa8ce55ad6bp-1,
    0x1.a77f4e952a1a5p-4,
};

/* erf(x) / x - 1 = c_0 + c_1 z + ..., |x| <= 15/32, z = x^2; error 1.2e-17. */
static const double erf_tail[11] = {
    0x1.06eba8214db69p-3,
    -0x1.812746b0379e7p-2,
    0x1.ce2f21a042be1p-4,
    -0x1.b82ce31288ad3p-6,
    0x1.565bcd0e65d7bp-8,
    -0x1.c02db3fd44e66p-11,
    0x1.f9a325bccbbe3p-14,
    -0x1.f4d207b6f1464p-17,
    0x1.b9d84816f0993p-20,
    -0x1.5de7082e07f33p-23,
    0x1.cc5868397009cp-27,
};

/* (1 + 2 x) exp(x^2) erfc(x) - 9/8 = c_0 + c_1 w + ...,
 * w = (x - 4) / (x + 4), 15/32 <= x <= 28; error 1.2e-17. */
static const double erfc_scaled[22] = {
    0x1.ba5916e9fd7edp-4,
    -0x1.1df1ad154a28ep-3,
    0x1.f7f5df66fd50ep-7,
    0x1.16ecefcfa5389p-4,
    -0x1.9ddb23c3e79c9p-4,
    0x1.7fee004e12941p-4,
    -0x1.0fb06dfe6fec0p-4,
    0x1.3079edf671e96p-5,
    -0x1.0962387cc57ddp-6,
    0x1.49c6728f07cffp-8,
    -0x1.8d4aa237446aep-11,
    -0x1.a1df300739ca3p-13,
    0x1.3be0e309b2a8ep-13,
    -0x1.995758286c73ap-16,
    -0x1.78a5c953afb38p-17,
    0x1.7f0cb0c89612ap-18,
    0x1.420bdbe545aacp-22,
    -0x1.b90f76b748a10p-21,
    0x1.1e83ee47d0ecfp-24,
    0x1.c295b05fe4c8fp-24,
    -0x1.a0200720fda7bp-27,
    -0x1.5f627e607f50ap-27,
};

#endif

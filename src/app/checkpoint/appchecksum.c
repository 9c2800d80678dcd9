/*
  CRC-64/XZ: the polynomial of ECMA-182, reflected, as the xz file format uses it. It detects every error of a single bit and every burst of up to 64 bits.

  The eight tables let a step take eight bytes: M. Kounavis, F. Berry, "Novel table lookup-based algorithms for high-performance CRC generation",
  IEEE Trans. Computers 57 (2008).
*/
#include "app/checkpoint/appcheckpoint.h"

#define POLYNOMIAL 0xC96C5795D7870F42u

static uint64_t Table[8][256];

static void ChecksumFillTables(void)
{
  for (int i = 0; i < 256; i++) {
    uint64_t crc = (uint64_t)i;

    for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (crc & 1 ? POLYNOMIAL : 0);
    Table[0][i] = crc;
  }
  for (int k = 1; k < 8; k++)
    for (int i = 0; i < 256; i++) Table[k][i] = (Table[k - 1][i] >> 8) ^ Table[0][Table[k - 1][i] & 255];
}

/* Returns the checksum of data that follow other data, whose checksum is crc; 0 if there are none. */
uint64_t GpAppChecksum(uint64_t crc, const void *data, size_t bytes)
{
  const unsigned char *p = (const unsigned char *)data;

  if (!Table[0][1]) ChecksumFillTables();
  crc = ~crc;
  for (; bytes >= 8; bytes -= 8, p += 8) {
    uint64_t next = 0;

    for (int k = 0; k < 8; k++) next |= (uint64_t)p[k] << (8 * k);
    next ^= crc;
    crc = 0;
    for (int k = 0; k < 8; k++) crc ^= Table[7 - k][(next >> (8 * k)) & 255];
  }
  for (; bytes > 0; bytes--, p++) crc = (crc >> 8) ^ Table[0][(crc ^ *p) & 255];
  return ~crc;
}

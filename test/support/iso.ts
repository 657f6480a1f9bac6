/** Returns a file with an ISO 9660 volume descriptor; every other byte is `fill`. */
export function isoFile(sizeBytes = 17 * 2048, fill = 0): Buffer {
  const file = Buffer.alloc(sizeBytes, fill);
  file.write('\x01CD001\x01', 16 * 2048, 'latin1');
  return file;
}

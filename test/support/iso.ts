/** A file that says of itself that it is ISO 9660: its volume descriptor, and zeros or what is given elsewhere. */
export function isoFile(sizeBytes = 17 * 2048, fill = 0): Buffer {
  const file = Buffer.alloc(sizeBytes, fill);
  file.write('\x01CD001\x01', 16 * 2048, 'latin1');
  return file;
}

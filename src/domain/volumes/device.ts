/** Returns the letters of a device after the server's own disk: b … z, aa, ab … */
function deviceLetters(n: number): string {
  const last = String.fromCharCode(97 + (n % 26));
  return n < 26 ? last : deviceLetters(Math.floor(n / 26) - 1) + last;
}

/** Returns the first free path from /dev/vdb on: /dev/vda is the server's own disk. */
export function firstFreeDevice(taken: ReadonlySet<string>): string {
  for (let n = 1; ; n++) {
    const device = `/dev/vd${deviceLetters(n)}`;
    if (!taken.has(device)) return device;
  }
}

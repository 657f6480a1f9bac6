/** Letters of the devices after the server's own disk: b … z, aa, ab … */
function letters(n: number): string {
  const last = String.fromCharCode(97 + (n % 26));
  return n < 26 ? last : letters(Math.floor(n / 26) - 1) + last;
}

/** The first path that is not taken, from /dev/vdb on: /dev/vda is the server's own disk. */
export function firstFreeDevice(taken: ReadonlySet<string>): string {
  for (let n = 1; ; n++) {
    const device = `/dev/vd${letters(n)}`;
    if (!taken.has(device)) return device;
  }
}

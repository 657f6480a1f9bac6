/** Sizes shown to customers and operators are binary: the "GB" of a quota, a disk or an image is a GiB. */
export const GIB_BYTES = 1024 ** 3;

/** Returns whole GiB, rounded down: a limit is reached only when it is full. */
export function toGib(bytes: number): number {
  return Math.floor(bytes / GIB_BYTES);
}

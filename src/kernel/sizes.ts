/** Sizes shown to customers and operators are binary: the "GB" of a quota, a disk or an image is a GiB. */
export const GIB_BYTES = 1024 ** 3;

/** Returns whole GiB, rounded up. */
export function toGib(bytes: number): number {
  return Math.ceil(bytes / GIB_BYTES);
}

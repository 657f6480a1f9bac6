/** Sizes that customers and operators are told are binary: a GB of a quota, a disk or an image is this. */
export const GIB_BYTES = 1024 ** 3;

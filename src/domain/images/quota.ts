import { quotaExceeded } from '../../kernel/fail.ts';
import type { Quotas } from '../../kernel/quotas.ts';
import { GIB_BYTES } from '../../kernel/sizes.ts';

/** Refuses with `limit_reached` if the customer has too many images, or no room for `moreBytes`. */
export function requireImageQuota(
  quotas: Quotas,
  used: { readonly count: number; readonly bytes: number },
  moreBytes: number,
): void {
  const { customImages, customImagesGb } = quotas;
  if (used.count >= customImages) {
    quotaExceeded('customImages', customImages, { field: 'file' });
  }
  if (used.bytes >= customImagesGb * GIB_BYTES || used.bytes + moreBytes > customImagesGb * GIB_BYTES) {
    quotaExceeded('customImagesGb', customImagesGb, { field: 'file' });
  }
}

import { quotaReached } from '../../kernel/fail.ts';
import type { Quotas } from '../../kernel/quotas.ts';
import { GIB_BYTES } from '../../kernel/sizes.ts';

/** Refuses with `limit_reached` when the customer has as many images as he may, or no room for so many bytes more. */
export function requireRoom(
  quotas: Quotas,
  held: { readonly count: number; readonly bytes: number },
  moreBytes: number,
): void {
  const { customImages, customImagesGb } = quotas;
  if (held.count >= customImages) {
    quotaReached('customImages', customImages, { field: 'file' });
  }
  if (held.bytes >= customImagesGb * GIB_BYTES || held.bytes + moreBytes > customImagesGb * GIB_BYTES) {
    quotaReached('customImagesGb', customImagesGb, { field: 'file' });
  }
}

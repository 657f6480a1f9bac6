import { quotaReached } from '../../kernel/fail.ts';
import type { Quotas } from '../../kernel/quotas.ts';

const GIB = 1024 ** 3;

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
  if (held.bytes >= customImagesGb * GIB || held.bytes + moreBytes > customImagesGb * GIB) {
    quotaReached('customImagesGb', customImagesGb, { field: 'file' });
  }
}

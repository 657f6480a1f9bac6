/** Decides which official images can be installed where the driver installs from imported disks. */
import { fail } from '../../kernel/fail.ts';
import type { Service } from '../context.ts';

type Category = 'vps' | 'dedicated';

/** Hardware that is sold by hand needs no base image: the operator installs it. */
export function requiresBaseImage({ compute }: Pick<Service, 'compute'>, category: Category): boolean {
  return compute.images !== null && compute.capabilities[category] !== null;
}

/** Returns why the plan cannot use the image; undefined if it can. */
export function baseImageProblem(
  service: Pick<Service, 'compute'>,
  plan: { readonly category: Category; readonly disk_gb: number },
  image: { readonly base_disk_gb: number | null },
): string | undefined {
  if (!requiresBaseImage(service, plan.category)) return undefined;
  if (image.base_disk_gb === null) return 'This image is not available yet. Choose another image.';
  if (image.base_disk_gb <= plan.disk_gb) return undefined;
  return `This image needs a disk of ${image.base_disk_gb} GiB. Choose a larger plan or another image.`;
}

/** Refuses with `unavailable` an official image that the plan cannot use. */
export function requireBaseImage(...args: Parameters<typeof baseImageProblem>): void {
  const problem = baseImageProblem(...args);
  if (problem !== undefined) fail('unavailable', { field: 'image' }, problem);
}

import type { Image } from '@skerry/sdk';
import { imageName } from '../../find.ts';
import type { Column } from '../../output/columns.ts';

export const IMAGE_COLUMNS: readonly Column<Image>[] = [
  { name: 'id', of: (image) => image.id },
  { name: 'name', of: imageName },
  { name: 'type', of: (image) => image.type },
  { name: 'family', of: (image) => image.family, hidden: true },
  { name: 'version', of: (image) => image.version, hidden: true },
  { name: 'variant', of: (image) => image.variant, hidden: true },
  { name: 'arch', of: (image) => image.arch },
  { name: 'size_gb', of: (image) => image.size_gb },
  { name: 'cloud_init', of: (image) => image.cloud_init, hidden: true },
  { name: 'released_at', of: (image) => image.released_at },
  { name: 'deprecated_at', of: (image) => image.deprecated_at },
];

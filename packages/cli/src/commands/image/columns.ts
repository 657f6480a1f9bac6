import type { Image } from '@skerry/sdk';
import { imageName } from '../../find.ts';
import type { Column } from '../../output/columns.ts';

export const IMAGE_COLUMNS: readonly Column<Image>[] = [
  { name: 'id', value: (image) => image.id },
  { name: 'name', value: imageName },
  { name: 'type', value: (image) => image.type },
  { name: 'family', value: (image) => image.family, hidden: true },
  { name: 'version', value: (image) => image.version, hidden: true },
  { name: 'variant', value: (image) => image.variant, hidden: true },
  { name: 'arch', value: (image) => image.arch },
  { name: 'size_gb', value: (image) => image.size_gb },
  { name: 'cloud_init', value: (image) => image.cloud_init, hidden: true },
  { name: 'released_at', value: (image) => image.released_at },
  { name: 'deprecated_at', value: (image) => image.deprecated_at },
];

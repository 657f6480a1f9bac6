/** Images in the panel. */
import { imageRemovalDay } from '../../domain/images/deprecation.ts';
import { getImage, listImages } from '../../domain/images/find.ts';
import { GIB_BYTES } from '../../kernel/sizes.ts';
import { imagesView, imageView } from '../../panel/images.ts';
import { LIMITS } from '../../spec/limits.ts';
import { PANEL_PATHS } from '../../spec/paths.ts';
import { readList } from './list.ts';
import { type Look, type PanelPage, restForm } from './page.ts';
import { uploadForm } from './upload.ts';

export const IMAGE_PAGES: readonly PanelPage[] = [
  {
    path: PANEL_PATHS.images,
    access: 'customer',
    shows: ['images.list'],
    upload: true,
    show: showImages,
    forms: { upload: uploadForm(PANEL_PATHS.images) },
  },
  {
    path: `${PANEL_PATHS.images}/{id}`,
    access: 'customer',
    shows: ['images.get'],
    show: async (look) => {
      const image = await getImage(look.service, look.customer(), look.params.id ?? '');
      const { deprecated_at: since } = image;
      return imageView({ image, removedOn: since && imageRemovalDay(since), forms: look.forms });
    },
    forms: {
      delete: restForm({
        does: 'images.delete',
        done: () => ({ to: `${PANEL_PATHS.images}?type=custom`, notice: 'image_deleted' }),
      }),
    },
  },
];

async function showImages(look: Look) {
  const list = await readList(look, 'images.list', (page) => listImages(look.service, look.customer(), page));
  const { items: images, ...rest } = list;
  const { customImages: count, customImagesGb: gb } = look.service.settings.quotas;
  const bounds = { count, gb, fileGb: LIMITS.imageUploadMaxBytes / GIB_BYTES };
  return imagesView({ images, ...rest, bounds, forms: look.forms });
}

/** Image pages. */
import { getImage, imageRemovalDay, listImages } from '../../domain/images/read.ts';
import { GIB_BYTES } from '../../kernel/sizes.ts';
import { imagesView, imageView } from '../../panel/resources/images.ts';
import { LIMITS } from '../../spec/limits.ts';
import { PANEL_PATHS } from '../../spec/paths.ts';
import { readList } from './list.ts';
import { type PageContext, type PanelPage, page, restForm } from './page-types.ts';
import { uploadForm } from './upload.ts';

export const IMAGE_PAGES: readonly PanelPage[] = [
  {
    path: PANEL_PATHS.images,
    access: 'customer',
    readOperations: ['images.list'],
    acceptsUpload: true,
    render: showImages,
    forms: { upload: uploadForm(PANEL_PATHS.images) },
  },
  page({
    path: `${PANEL_PATHS.images}/{id}`,
    access: 'customer',
    readOperations: ['images.get'],
    render: async (context) => {
      const image = await getImage(context.service, context.customer(), context.params.id);
      const { deprecated_at: deprecatedAt } = image;
      return imageView({
        image,
        removedOn: deprecatedAt && imageRemovalDay(deprecatedAt),
        forms: context.forms,
      });
    },
    forms: {
      delete: restForm({
        operation: 'images.delete',
        done: () => ({ to: `${PANEL_PATHS.images}?type=custom`, notice: 'image_deleted' }),
      }),
    },
  }),
];

async function showImages(context: PageContext) {
  const list = await readList(context, 'images.list', (page) =>
    listImages(context.service, context.customer(), page),
  );
  const { items: images, ...rest } = list;
  const { customImages: count, customImagesGb: gb } = context.service.settings.quotas;
  const limits = { count, gb, fileGb: LIMITS.imageUploadMaxBytes / GIB_BYTES };
  return imagesView({ images, ...rest, limits, forms: context.forms });
}

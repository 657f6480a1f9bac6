import type { Pages } from '../pages.ts';
import { randomKey } from '../random-key.ts';
import type { CallOptions } from '../transport.ts';
import type { CreateImage, Image, ListQuery } from '../types.ts';
import { Resource } from './resource.ts';

/** Official images, and those that were uploaded (SPEC "Image"). */
export class Images extends Resource {
  list(query: ListQuery<'images.list'> = {}, options?: CallOptions): Pages<Image> {
    return this.pages(query, options, (api, asked, attempt) =>
      api.GET('/images', { params: { query: asked }, ...attempt }),
    );
  }

  /** Uploads an ISO 9660 image of at most 4 GiB. An upload may take as long as it takes, unless `timeoutMs` says otherwise. */
  create({ file, ...fields }: CreateImage, options?: CallOptions): Promise<Image> {
    const body = multipartBody(file, fields);
    const send = { body: { ...fields, file: '' }, bodySerializer: () => body };
    return this.transport.run(
      (api, attempt) => {
        const headers = { ...attempt.headers, 'content-type': body.type };
        return api.POST('/images', { ...send, ...attempt, headers });
      },
      { ...options, timeoutMs: options?.timeoutMs ?? 0, post: true, bucket: 'provision' },
    );
  }

  get(id: string, options?: CallOptions): Promise<Image> {
    return this.transport.run(
      (api, attempt) => api.GET('/images/{id}', { params: { path: { id } }, ...attempt }),
      options,
    );
  }

  /** One of your own. Servers that were installed from it keep running. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.transport.run(
      (api, attempt) => api.DELETE('/images/{id}', { params: { path: { id } }, ...attempt }),
      { ...options, ignoreNotFoundOnRetry: true },
    );
  }
}

/**
 * `multipart/form-data` as one Blob, of which the file is read as it is sent. A FormData would do the same, were it not that Node's
 * fetch (undici since 7.20) ends the whole process when the connection breaks, or the file changes, while it sends one.
 */
function multipartBody(file: Blob, fields: Omit<CreateImage, 'file'>): Blob {
  const boundary = `skerry-${randomKey()}`;
  const part = (about: string) => `--${boundary}\r\ncontent-disposition: form-data; ${about}\r\n\r\n`;
  const texts = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${part(`name="${name}"`)}${[value].flat().join(',')}\r\n`);
  // The file is last: the service reads the fields before it takes it.
  const parts = [...texts, part('name="file"; filename="image.iso"'), file, `\r\n--${boundary}--\r\n`];
  return new Blob(parts, { type: `multipart/form-data; boundary=${boundary}` });
}

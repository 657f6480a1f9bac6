import type { Pages } from '../pages.ts';
import { randomKey } from '../random-key.ts';
import type { CallOptions } from '../transport.ts';
import type { CreateImage, Image, ListQuery } from '../types.ts';
import { Resource } from './resource.ts';

/** Official and uploaded images (SPEC "Image"). */
export class Images extends Resource {
  list(query: ListQuery<'images.list'> = {}, options?: CallOptions): Pages<Image> {
    return this.pages(query, options, (api, asked, attempt) =>
      api.GET('/images', { params: { query: asked }, ...attempt }),
    );
  }

  /** Uploads an ISO 9660 image of at most 4 GiB. The upload has no timeout unless `timeoutMs` sets one. */
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

  /** Deletes a custom image. Servers that were installed from it keep running. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.transport.run(
      (api, attempt) => api.DELETE('/images/{id}', { params: { path: { id } }, ...attempt }),
      { ...options, ignoreNotFoundOnRetry: true },
    );
  }
}

/**
 * Builds `multipart/form-data` as one Blob, whose file is read while it is sent. A FormData would do the
 * same, but Node's fetch (undici since 7.20) ends the whole process if the connection breaks or the file
 * changes meanwhile.
 */
function multipartBody(file: Blob, fields: Omit<CreateImage, 'file'>): Blob {
  const boundary = `skerry-${randomKey()}`;
  const part = (about: string) => `--${boundary}\r\ncontent-disposition: form-data; ${about}\r\n\r\n`;
  const texts = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${part(`name="${name}"`)}${[value].flat().join(',')}\r\n`);
  // The file comes last: the service reads the fields first.
  const parts = [...texts, part('name="file"; filename="image.iso"'), file, `\r\n--${boundary}--\r\n`];
  return new Blob(parts, { type: `multipart/form-data; boundary=${boundary}` });
}

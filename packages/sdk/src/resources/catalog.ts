import type { Pages } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import { randomKey } from '../transport.ts';
import type { CreateImage, Image, ListQuery, Plan, Region } from '../types.ts';
import { byId, Resource } from './resource.ts';

/** Plans for servers (SPEC "Plan"). `cycles` contains the price of each billing cycle. */
export class Plans extends Resource {
  list(query: ListQuery<'plans.list'> = {}, options?: CallOptions): Pages<Plan> {
    return this.pages(query, options, (api, params) => api.GET('/plans', { params }));
  }

  get(id: string, options?: CallOptions): Promise<Plan> {
    return this.transport.run((api) => api.GET('/plans/{id}', byId(id)), options);
  }
}

/** Regions for servers and volumes (SPEC "Region"). */
export class Regions extends Resource {
  list(query: ListQuery<'regions.list'> = {}, options?: CallOptions): Pages<Region> {
    return this.pages(query, options, (api, params) => api.GET('/regions', { params }));
  }

  get(id: string, options?: CallOptions): Promise<Region> {
    return this.transport.run((api) => api.GET('/regions/{id}', byId(id)), options);
  }
}

/** Official and uploaded images (SPEC "Image"). */
export class Images extends Resource {
  list(query: ListQuery<'images.list'> = {}, options?: CallOptions): Pages<Image> {
    return this.pages(query, options, (api, params) => api.GET('/images', { params }));
  }

  /** Uploads an ISO 9660 image of at most 4 GiB. The upload has no timeout unless `timeoutMs` sets one. */
  create({ file, ...fields }: CreateImage, options?: CallOptions): Promise<Image> {
    const body = multipartBody(file, fields);
    const sent = {
      body: { ...fields, file: '' },
      bodySerializer: () => body,
      headers: { 'content-type': body.type },
    };
    const call = { ...options, timeoutMs: options?.timeoutMs ?? 0, bucket: 'provision' } as const;
    return this.transport.run((api) => api.POST('/images', sent), call);
  }

  get(id: string, options?: CallOptions): Promise<Image> {
    return this.transport.run((api) => api.GET('/images/{id}', byId(id)), options);
  }

  /** Deletes a custom image. Servers that were installed from it keep running. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.remove((api) => api.DELETE('/images/{id}', byId(id)), options);
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

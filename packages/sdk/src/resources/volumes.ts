import type { Pages } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import type { CreateVolume, ListQuery, UpdateVolume, Volume } from '../types.ts';
import { Resource } from './resource.ts';

/** Disks that outlive servers (SPEC "Volume"). */
export class Volumes extends Resource {
  list(query: ListQuery<'volumes.list'> = {}, options?: CallOptions): Pages<Volume> {
    return this.pages(query, options, (api, asked, attempt) =>
      api.GET('/volumes', { params: { query: asked }, ...attempt }),
    );
  }

  create(body: CreateVolume, options?: CallOptions): Promise<Volume> {
    return this.transport.run((api, attempt) => api.POST('/volumes', { body, ...attempt }), {
      ...options,
      post: true,
    });
  }

  get(id: string, options?: CallOptions): Promise<Volume> {
    return this.transport.run(
      (api, attempt) => api.GET('/volumes/{id}', { params: { path: { id } }, ...attempt }),
      options,
    );
  }

  /** Renames or grows the volume; it cannot shrink. */
  update(id: string, body: UpdateVolume, options?: CallOptions): Promise<Volume> {
    return this.transport.run(
      (api, attempt) => api.PATCH('/volumes/{id}', { params: { path: { id } }, body, ...attempt }),
      options,
    );
  }

  /** Deletes a detached volume and all data on it. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.transport.run(
      (api, attempt) => api.DELETE('/volumes/{id}', { params: { path: { id } }, ...attempt }),
      { ...options, ignoreNotFoundOnRetry: true },
    );
  }

  /** Attaches the volume to a server in the same region. */
  attach(id: string, body: { readonly server: string }, options?: CallOptions): Promise<Volume> {
    return this.transport.run(
      (api, attempt) => api.POST('/volumes/{id}/attach', { params: { path: { id } }, body, ...attempt }),
      { ...options, post: true },
    );
  }

  detach(id: string, options?: CallOptions): Promise<Volume> {
    return this.transport.run(
      (api, attempt) => api.POST('/volumes/{id}/detach', { params: { path: { id } }, ...attempt }),
      { ...options, post: true },
    );
  }
}

import type { Pages } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import type { CreateSnapshot, ListQuery, Snapshot } from '../types.ts';
import { Resource } from './resource.ts';

/** Copies of servers' disks (SPEC "Snapshot"). Restore one with `servers.restore`. */
export class Snapshots extends Resource {
  list(query: ListQuery<'snapshots.list'> = {}, options?: CallOptions): Pages<Snapshot> {
    return this.pages(query, options, (api, asked, attempt) =>
      api.GET('/snapshots', { params: { query: asked }, ...attempt }),
    );
  }

  /**
   * Starts a snapshot of a server: it is `creating`. Wait for it with `skerry.waitFor(snapshot, 'ready')`.
   */
  create(server: string, body: CreateSnapshot = {}, options?: CallOptions): Promise<Snapshot> {
    return this.transport.run(
      (api, attempt) =>
        api.POST('/servers/{id}/snapshots', { params: { path: { id: server } }, body, ...attempt }),
      { ...options, post: true },
    );
  }

  get(id: string, options?: CallOptions): Promise<Snapshot> {
    return this.transport.run(
      (api, attempt) => api.GET('/snapshots/{id}', { params: { path: { id } }, ...attempt }),
      options,
    );
  }

  delete(id: string, options?: CallOptions): Promise<void> {
    return this.transport.run(
      (api, attempt) => api.DELETE('/snapshots/{id}', { params: { path: { id } }, ...attempt }),
      { ...options, ignoreNotFoundOnRetry: true },
    );
  }
}

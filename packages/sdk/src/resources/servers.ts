import type { Pages } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import type {
  Console,
  CreateServer,
  ListQuery,
  Metrics,
  RebuildServer,
  RescuedServer,
  Server,
  SetRdns,
  UpdateServer,
} from '../types.ts';
import { Resource } from './resource.ts';

/**
 * Virtual and dedicated servers (SPEC "Server"). A long operation returns the server's current state
 * immediately; wait for the result with `skerry.waitFor(server, 'running')`.
 */
export class Servers extends Resource {
  list(query: ListQuery<'servers.list'> = {}, options?: CallOptions): Pages<Server> {
    return this.pages(query, options, (api, asked, attempt) =>
      api.GET('/servers', { params: { query: asked }, ...attempt }),
    );
  }

  /**
   * Charges the first cycle and starts provisioning: the server is `provisioning` and has no addresses yet.
   */
  create(body: CreateServer, options?: CallOptions): Promise<Server> {
    return this.transport.run((api, attempt) => api.POST('/servers', { body, ...attempt }), {
      ...options,
      post: true,
      bucket: 'provision',
    });
  }

  get(id: string, options?: CallOptions): Promise<Server> {
    return this.transport.run(
      (api, attempt) => api.GET('/servers/{id}', { params: { path: { id } }, ...attempt }),
      options,
    );
  }

  /** Tags and labels are replaced as a whole. */
  update(id: string, body: UpdateServer, options?: CallOptions): Promise<Server> {
    return this.transport.run(
      (api, attempt) => api.PATCH('/servers/{id}', { params: { path: { id } }, body, ...attempt }),
      options,
    );
  }

  /** Deletes the server and all data on its disk permanently. Volumes and snapshots are kept. */
  delete(id: string, options?: CallOptions): Promise<Server> {
    return this.transport.run(
      (api, attempt) => api.DELETE('/servers/{id}', { params: { path: { id } }, ...attempt }),
      options,
    );
  }

  /**
   * `hard` skips the shutdown of the guest. The status stays `running`; the event `server.rebooted` marks the
   * end.
   */
  reboot(id: string, query: { readonly hard?: boolean } = {}, options?: CallOptions): Promise<Server> {
    return this.transport.run(
      (api, attempt) => api.POST('/servers/{id}/reboot', { params: { path: { id }, query }, ...attempt }),
      { ...options, post: true },
    );
  }

  /** Reinstalls an image and erases the disk. Addresses stay the same. */
  rebuild(id: string, body: RebuildServer = {}, options?: CallOptions): Promise<Server> {
    return this.transport.run(
      (api, attempt) => api.POST('/servers/{id}/rebuild', { params: { path: { id } }, body, ...attempt }),
      { ...options, post: true },
    );
  }

  /**
   * Restarts into the rescue system. `rescue` in the response contains its password, which is shown only
   * once.
   */
  rescue(id: string, options?: CallOptions): Promise<RescuedServer> {
    return this.transport.run(
      (api, attempt) => api.POST('/servers/{id}/rescue', { params: { path: { id } }, ...attempt }),
      { ...options, post: true },
    );
  }

  stop(id: string, options?: CallOptions): Promise<Server> {
    return this.transport.run(
      (api, attempt) => api.POST('/servers/{id}/stop', { params: { path: { id } }, ...attempt }),
      { ...options, post: true },
    );
  }

  start(id: string, options?: CallOptions): Promise<Server> {
    return this.transport.run(
      (api, attempt) => api.POST('/servers/{id}/start', { params: { path: { id } }, ...attempt }),
      { ...options, post: true },
    );
  }

  /** Restores a snapshot and erases the disk. */
  restore(id: string, body: { readonly snapshot: string }, options?: CallOptions): Promise<Server> {
    return this.transport.run(
      (api, attempt) => api.POST('/servers/{id}/restore', { params: { path: { id } }, body, ...attempt }),
      { ...options, post: true },
    );
  }

  /** Returns the URL of a console for one visit within five minutes. With a `read` token, it is view-only. */
  console(id: string, options?: CallOptions): Promise<Console> {
    return this.transport.run(
      (api, attempt) => api.GET('/servers/{id}/console', { params: { path: { id } }, ...attempt }),
      options,
    );
  }

  /** Returns hourly values of the last 30 days. */
  metrics(id: string, options?: CallOptions): Promise<Metrics> {
    return this.transport.run(
      (api, attempt) => api.GET('/servers/{id}/metrics', { params: { path: { id } }, ...attempt }),
      options,
    );
  }

  /** Sets the host names of the addresses; null removes one. */
  setRdns(id: string, body: SetRdns, options?: CallOptions): Promise<Server> {
    return this.transport.run(
      (api, attempt) => api.POST('/servers/{id}/rdns', { params: { path: { id } }, body, ...attempt }),
      { ...options, post: true },
    );
  }
}

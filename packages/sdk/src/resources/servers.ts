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
 * Virtual and dedicated servers (SPEC "Server"). What takes time answers at once with the server as it is by then:
 * `skerry.waitFor(server, 'running')` waits for the rest.
 */
export class Servers extends Resource {
  list(query: ListQuery<'servers.list'> = {}, options?: CallOptions): Pages<Server> {
    return this.pages(query, options, (api, asked, attempt) =>
      api.GET('/servers', { params: { query: asked }, ...attempt }),
    );
  }

  /** Charges the first cycle and begins to provision: the answer is `provisioning`, without addresses. */
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

  /** Destroys it for ever, with what is on its disk. Volumes and snapshots stay. */
  delete(id: string, options?: CallOptions): Promise<Server> {
    return this.transport.run(
      (api, attempt) => api.DELETE('/servers/{id}', { params: { path: { id } }, ...attempt }),
      options,
    );
  }

  /** `hard` skips the guest's own shutdown. The status stays `running`; the event `server.rebooted` says when it is done. */
  reboot(id: string, query: { readonly hard?: boolean } = {}, options?: CallOptions): Promise<Server> {
    return this.transport.run(
      (api, attempt) => api.POST('/servers/{id}/reboot', { params: { path: { id }, query }, ...attempt }),
      { ...options, post: true },
    );
  }

  /** Installs an image anew. What is on the disk is destroyed; addresses stay. */
  rebuild(id: string, body: RebuildServer = {}, options?: CallOptions): Promise<Server> {
    return this.transport.run(
      (api, attempt) => api.POST('/servers/{id}/rebuild', { params: { path: { id } }, body, ...attempt }),
      { ...options, post: true },
    );
  }

  /** Boots the rescue system. `rescue` of the answer holds its password, once. */
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

  /** Puts a snapshot onto the disk. What is on it now is destroyed. */
  restore(id: string, body: { readonly snapshot: string }, options?: CallOptions): Promise<Server> {
    return this.transport.run(
      (api, attempt) => api.POST('/servers/{id}/restore', { params: { path: { id } }, body, ...attempt }),
      { ...options, post: true },
    );
  }

  /** A page with the screen, for one visitor within five minutes. A `read` token gets one that takes no input. */
  console(id: string, options?: CallOptions): Promise<Console> {
    return this.transport.run(
      (api, attempt) => api.GET('/servers/{id}/console', { params: { path: { id } }, ...attempt }),
      options,
    );
  }

  /** Thirty days, hour by hour. */
  metrics(id: string, options?: CallOptions): Promise<Metrics> {
    return this.transport.run(
      (api, attempt) => api.GET('/servers/{id}/metrics', { params: { path: { id } }, ...attempt }),
      options,
    );
  }

  /** Host names of the addresses; null takes one away. */
  setRdns(id: string, body: SetRdns, options?: CallOptions): Promise<Server> {
    return this.transport.run(
      (api, attempt) => api.POST('/servers/{id}/rdns', { params: { path: { id } }, body, ...attempt }),
      { ...options, post: true },
    );
  }
}

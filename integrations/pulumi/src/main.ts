/** Entry point: serves the provider's protocol on a free port, and prints the port for the engine. */
import { readFileSync } from 'node:fs';
import { type handleUnaryCall, Server, ServerCredentials, type UntypedHandleCall } from '@grpc/grpc-js';
import { Provider } from './provider.ts';
import { toServiceError } from './rpc/failure.ts';
import { ResourceProvider } from './rpc/protocol.ts';
import { fromStruct, type Struct } from './rpc/values.ts';

type Requests = Readonly<Record<string, (request: never) => unknown>>;

export async function main(): Promise<void> {
  const file = new URL('../package.json', import.meta.url);
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string };
  const server = new Server({ 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 });
  server.addService(ResourceProvider.service, handlersFor(new Provider(process.env, version)));
  const port = await new Promise<number>((resolve, reject) => {
    const credentials = ServerCredentials.createInsecure();
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) => (error ? reject(error) : resolve(bound)));
  });
  // Ctrl-C reaches the whole process group. The engine then calls Cancel, and ends the provider itself.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => server.forceShutdown());
  process.stdout.write(`${port}\n`);
}

function handlersFor(provider: Provider): Record<string, UntypedHandleCall> {
  const calls: Requests = {
    GetSchema: () => provider.getSchema(),
    GetPluginInfo: () => provider.getPluginInfo(),
    CheckConfig: (request) => provider.checkConfig(request),
    DiffConfig: (request) => provider.diffConfig(request),
    Configure: (request) => provider.configure(request),
    Check: (request) => provider.check(request),
    Diff: (request) => provider.diff(request),
    Create: (request) => provider.create(request),
    Read: (request) => provider.read(request),
    Update: (request) => provider.update(request),
    Delete: (request) => provider.delete(request),
    Cancel: () => provider.cancel(),
  };
  return Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, unary(call)]));
}

function unary(call: (request: never) => unknown): UntypedHandleCall {
  const handle: handleUnaryCall<never, unknown> = async ({ request }, respond) => {
    try {
      respond(null, await call(request));
    } catch (error) {
      const { news, properties } = request as { readonly news?: Struct; readonly properties?: Struct };
      respond(toServiceError(error, fromStruct(news ?? properties)));
    }
  };
  return handle as UntypedHandleCall;
}

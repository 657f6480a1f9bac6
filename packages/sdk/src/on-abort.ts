/**
 * Calls when the signal is aborted, until the function it gives is called. However many wait for one signal, it has one listener
 * of ours, and none when nobody waits: Node 20 warns of eleven, and a program may use one signal for as long as it lives.
 */
export function onAbort(signal: AbortSignal, call: () => void): () => void {
  const line = lines.get(signal) ?? begin(signal);
  line.calls.add(call);
  return () => {
    line.calls.delete(call);
    if (line.calls.size > 0 || lines.get(signal) !== line) return;
    signal.removeEventListener('abort', line.tell);
    lines.delete(signal);
  };
}

interface Line {
  readonly calls: Set<() => void>;
  readonly tell: () => void;
}

const lines = new WeakMap<AbortSignal, Line>();

function begin(signal: AbortSignal): Line {
  const calls = new Set<() => void>();
  const tell = () => {
    for (const call of calls) call();
  };
  const line = { calls, tell };
  lines.set(signal, line);
  signal.addEventListener('abort', tell, { once: true });
  return line;
}

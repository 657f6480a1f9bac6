/**
 * Calls `callback` when the signal is aborted, until the returned function is called. All callbacks of a
 * signal share one listener: Node 20 warns of eleven, and a program may use one signal for its whole life.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const subscription = subscriptions.get(signal) ?? subscribe(signal);
  subscription.callbacks.add(callback);
  return () => {
    subscription.callbacks.delete(callback);
    if (subscription.callbacks.size > 0 || subscriptions.get(signal) !== subscription) return;
    signal.removeEventListener('abort', subscription.notify);
    subscriptions.delete(signal);
  };
}

interface Subscription {
  readonly callbacks: Set<() => void>;
  readonly notify: () => void;
}

const subscriptions = new WeakMap<AbortSignal, Subscription>();

function subscribe(signal: AbortSignal): Subscription {
  const callbacks = new Set<() => void>();
  const notify = () => {
    for (const call of callbacks) call();
  };
  const subscription = { callbacks, notify };
  subscriptions.set(signal, subscription);
  signal.addEventListener('abort', notify, { once: true });
  return subscription;
}

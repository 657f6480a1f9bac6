// Updates a page in place when something on it changed. One tab of the browser has the event stream and tells
// the other tabs. Each tab fetches its own page again when a change concerns it, and replaces the parts that
// differ.
{
  const FETCH_DELAY_MS = 250;
  const FETCH_GAP_MS = 1000;
  const FAILURE_GAP_MS = 10_000;
  const REOPEN_MS = 60_000;
  const PICTURES_MAX_MS = 5_000;
  // Polls that much more rarely while the stream is open, in case that something between buffers it.
  const OPEN_FACTOR = 6;

  const { url, stream, about, seq, every, valuesEvery } = document.currentScript.dataset;
  const subjects = (about ?? '').split(' ');
  let position = Number(seq ?? 0);
  let pollS = Number(every ?? 0);
  // No event announces values that are measured.
  const valuesS = Number(valuesEvery ?? Number.POSITIVE_INFINITY);
  let isOpen = false;
  let hasEnded = false;

  // ---- the parts of the page

  // Compares the server's renderings without values that always differ. Scripts and people change the page
  // itself.
  const textOf = (part) =>
    part.outerHTML
      .replace(/name="_once" value="[^"]*"/g, '')
      .replace(/ data-until="[^"]*">[^<]*/g, '>');
  const partsOf = (root) => [...root.querySelectorAll('[data-part]')];
  const shown = new Map(partsOf(document).map((part) => [part.dataset.part, textOf(part)]));
  const waiting = new Map();
  const touched = new WeakSet();
  for (const type of ['input', 'change'])
    document.addEventListener(type, ({ target }) => target.form && touched.add(target.form));
  document.addEventListener('reset', ({ target }) => touched.delete(target));

  const announcer = document.createElement('p');
  announcer.className = 'unseen';
  announcer.setAttribute('role', 'status');
  document.body.append(announcer);

  const isTouched = (form) => touched.has(form) || form.dataset.sent;
  const isFilledIn = (part) => {
    const outer = part.closest('form');
    // Boxes may belong to a form outside the part.
    const fields = [...part.querySelectorAll('[form]')];
    const forms = [...part.querySelectorAll('form'), ...fields.flatMap(({ form }) => form ?? [])];
    return (outer && isTouched(outer)) || forms.some(isTouched);
  };
  const isRead = (part) => {
    const selection = getSelection();
    return (
      part.contains(document.activeElement) ||
      (!selection.isCollapsed && selection.containsNode(part, true))
    );
  };
  // A part that no longer applies goes, even in use: an expired payment must not keep its address.
  const isEmpty = (part) => part.textContent.trim() === '' && !part.querySelector('img');
  const mustWait = (part, fresh) => isFilledIn(part) || (!isEmpty(fresh) && isRead(part));

  const statusOf = (part) => (part.querySelector('.state') ?? part).textContent.replace(/\s+/g, ' ').trim();

  function replace(part, fresh) {
    const foldKey = (fold) => {
      const summary = fold.querySelector('summary');
      return summary?.ariaLabel ?? summary?.textContent;
    };
    const open = new Set([...part.querySelectorAll('details[open]')].map(foldKey));
    const offsets = [...part.querySelectorAll('.scroll')].map(({ scrollLeft }) => scrollLeft);
    const before = statusOf(part);
    for (const fold of fresh.querySelectorAll('details')) if (open.has(foldKey(fold))) fold.open = true;
    part.replaceWith(fresh);
    fresh.querySelectorAll('.scroll').forEach((element, index) => {
      element.scrollLeft = offsets[index] ?? 0;
    });
    const { announce } = fresh.dataset;
    if (announce && statusOf(fresh) !== before) announcer.textContent = `${announce}: ${statusOf(fresh)}`;
    document.dispatchEvent(new CustomEvent('part-replaced', { detail: fresh }));
  }

  // A part in use waits until it is not.
  function replaceWaiting() {
    if (waiting.size === 0) return;
    for (const part of partsOf(document)) {
      const name = part.dataset.part;
      const fresh = waiting.get(name);
      if (!fresh || mustWait(part, fresh)) continue;
      waiting.delete(name);
      shown.set(name, textOf(fresh));
      replace(part, fresh);
    }
  }
  let settling;
  for (const type of ['focusout', 'selectionchange', 'reset'])
    document.addEventListener(type, () => {
      clearTimeout(settling);
      settling = setTimeout(replaceWaiting, 100);
    });

  async function show(page) {
    pollS = Number(page.querySelector('script[data-stream]')?.dataset.every ?? 0);
    const changed = new Map();
    for (const fresh of partsOf(page)) {
      const name = fresh.dataset.part;
      if (shown.get(name) === textOf(fresh)) waiting.delete(name);
      else changed.set(name, document.importNode(fresh, true));
    }
    // Chromium never frees a parsed page with a source for a color scheme.
    for (const source of page.querySelectorAll('source')) source.remove();
    await loadPictures([...changed.values()]);
    for (const [name, fresh] of changed) waiting.set(name, fresh);
    replaceWaiting();
  }

  // Otherwise a chart would disappear until the new one has loaded.
  async function loadPictures(parts) {
    const pictures = parts.flatMap((part) => [...part.querySelectorAll('img')]);
    if (pictures.length === 0) return;
    const loaded = pictures.map((picture) => picture.decode().catch(() => undefined));
    await Promise.race([Promise.all(loaded), new Promise((done) => setTimeout(done, PICTURES_MAX_MS))]);
  }

  // ---- fetching the page: one request at a time, for any number of changes

  let isWanted = false;
  let isFetching = false;
  let timer;
  let fetchedAt = Date.now();
  let gapMs = FETCH_GAP_MS;

  function want() {
    isWanted = true;
    schedule();
  }

  function schedule() {
    if (!isWanted || isFetching || timer || document.hidden || hasEnded) return;
    timer = setTimeout(load, Math.max(FETCH_DELAY_MS, fetchedAt + gapMs - Date.now()));
  }

  async function load() {
    timer = undefined;
    isWanted = false;
    isFetching = true;
    const response = await fetch(url, { headers: { accept: 'text/html' } }).catch(() => null);
    const text = await response?.text().catch(() => null);
    fetchedAt = Date.now();
    // The page no longer exists, or the customer signed out.
    if (response?.redirected || response?.status === 404) return leave();
    const isComplete = response?.ok && typeof text === 'string';
    gapMs = isComplete ? FETCH_GAP_MS : FAILURE_GAP_MS;
    if (isComplete) await show(new DOMParser().parseFromString(text, 'text/html'));
    else isWanted = true;
    isFetching = false;
    schedule();
  }

  function leave() {
    hasEnded = true;
    if (![...document.forms].some(isTouched)) location.replace(url);
  }

  document.addEventListener('visibilitychange', schedule);
  setInterval(() => {
    const stateS = pollS > 0 ? pollS * (isOpen ? OPEN_FACTOR : 1) : Number.POSITIVE_INFINITY;
    if (Date.now() - fetchedAt >= Math.min(stateS, valuesS) * 1000) want();
  }, 1000);

  // ---- one stream for all tabs

  let channel;
  let source;

  function receive({ kind, at, type, ids }) {
    if (kind === 'hello') {
      if (source) channel.postMessage({ kind: isOpen ? 'open' : 'closed', at: position });
      return;
    }
    if (kind === 'change') {
      if (subjects.some((subject) => [type, ...ids].some((word) => word.startsWith(subject)))) want();
    } else {
      isOpen = kind === 'open';
      // This page is older than what the other tabs have been told.
      if (kind === 'missed' || kind === 'ended' || at > position) want();
    }
    position = Math.max(position, at);
  }

  function tell(message) {
    channel.postMessage(message);
    receive(message);
  }

  function listen(release) {
    source = new EventSource(`${stream}?after=${position}`);
    source.addEventListener('open', () => tell({ kind: 'open', at: position }));
    source.addEventListener('missed', ({ lastEventId }) => {
      tell({ kind: 'missed', at: Number(lastEventId) });
      tell({ kind: 'open', at: position });
    });
    source.addEventListener('change', ({ data, lastEventId }) =>
      tell({ kind: 'change', at: Number(lastEventId), ...JSON.parse(data) }),
    );
    source.addEventListener('end', () => {
      source.close();
      source = undefined;
      release();
      tell({ kind: 'ended', at: position });
    });
    source.addEventListener('error', () => {
      tell({ kind: 'closed', at: position });
      // After a refusal, the browser does not try again. The page tells whether the customer is signed in.
      if (source.readyState !== EventSource.CLOSED || hasEnded) return;
      want();
      setTimeout(() => listen(release), REOPEN_MS * (1 + Math.random()));
    });
  }

  // The operator's console has no stream: its pages fetch themselves at intervals.
  if (stream && navigator.locks && window.BroadcastChannel && window.EventSource) {
    channel = new BroadcastChannel('skerry-live');
    channel.addEventListener('message', ({ data }) => receive(data));
    channel.postMessage({ kind: 'hello' });
    navigator.locks.request('skerry-live', () => new Promise(listen));
  }
}

// Uploads in parts, which continue after a lost connection, with progress: bytes, speed, and time left.
// Without it, the form is sent as usual.
{
  const PARTS_PATH = '/images/uploads';
  const SPEED_OVER_MS = 5_000;
  const SHOW_EVERY_MS = 200;
  const RETRY_MAX_MS = 30_000;
  /** Without a byte in between: about five minutes. */
  const RETRIES_MAX = 14;
  const UNITS = ['KiB', 'MiB', 'GiB'];

  function formatBytes(bytes) {
    const power = Math.min(Math.max(Math.floor(Math.log2(bytes || 1) / 10), 1), UNITS.length);
    const amount = bytes / 1024 ** power;
    return `${amount >= 100 ? Math.round(amount) : Number(amount.toPrecision(3))} ${UNITS[power - 1]}`;
  }

  function formatLeft(seconds) {
    if (seconds < 60) return `${Math.ceil(seconds)} s left`;
    if (seconds < 3_600) return `${Math.ceil(seconds / 60)} min left`;
    return `${Math.floor(seconds / 3_600)} h ${Math.ceil((seconds % 3_600) / 60)} min left`;
  }

  /** Bytes per second lately, or undefined. */
  function speedOf(samples) {
    const [first, last] = [samples[0], samples.at(-1)];
    return last.at > first.at ? ((last.sent - first.sent) * 1000) / (last.at - first.at) : undefined;
  }

  /** The same for the same file, also after a reload. Its name does not leave the browser. */
  function fileKey({ name, size, lastModified }) {
    let [high, low] = [0x811c9dc5, 0x9747b28c];
    for (const char of `${name}\n${size}\n${lastModified}`) {
      high = Math.imul(high ^ char.codePointAt(0), 0x01000193);
      low = Math.imul(low ^ char.codePointAt(0), 0x85ebca6b) ^ (low >>> 13);
    }
    return [high, low, size].map((part) => (part >= 0 ? part : part + 2 ** 32).toString(36)).join('-');
  }

  function createProgress(form, total) {
    const box = document.createElement('div');
    box.className = 'upload';
    box.innerHTML = `<progress max="1" value="0" aria-label="Upload"></progress> <span></span>
<button type="button" class="quiet">Cancel upload</button><p class="unseen" role="status"></p>`;
    form.append(box);
    const [bar, text, cancel, status] = box.children;
    let samples = [];
    let [shownAt, tenths] = [0, 0];
    const announce = (message) => {
      text.textContent = message;
      status.textContent = message;
    };
    /** A new connection, or the first. */
    const restart = (sent) => {
      samples = [{ at: performance.now(), sent }];
      bar.value = sent / total;
    };
    const show = (sent) => {
      const at = performance.now();
      samples.push({ at, sent });
      while (samples.length > 2 && at - samples[0].at > SPEED_OVER_MS) samples.shift();
      if (at - shownAt < SHOW_EVERY_MS) return;
      shownAt = at;
      const speed = speedOf(samples);
      const facts = [`${formatBytes(sent)} of ${formatBytes(total)}`];
      if (speed > 0) facts.push(`${formatBytes(speed)}/s`, formatLeft((total - sent) / speed));
      bar.value = sent / total;
      text.textContent = facts.join(' · ');
      // A screen reader hears each tenth.
      const tenth = Math.floor(bar.value * 10);
      if (tenth > tenths) status.textContent = `${tenth * 10}% uploaded`;
      tenths = Math.max(tenth, tenths);
    };
    return { box, bar, cancel, announce, restart, show };
  }

  /** A request that a cancellation ends. Resolves with status 0 when the connection is lost. */
  function send(method, path, { signal, body, headers = {}, onProgress }) {
    return new Promise((resolve) => {
      const request = new XMLHttpRequest();
      request.open(method, path);
      for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
      if (onProgress) request.upload.addEventListener('progress', ({ loaded }) => onProgress(loaded));
      request.addEventListener('loadend', () => resolve(request));
      signal.addEventListener('abort', () => request.abort());
      request.send(body);
    });
  }

  /** The answer, why the server refuses, or neither if the request is worth another attempt. */
  function resultOf({ status, responseText }) {
    if (status === 0 || status === 429 || status >= 500) return {};
    try {
      const answer = JSON.parse(responseText);
      return answer.ok === false ? { refusal: answer.msg } : { answer };
    } catch {
      return {};
    }
  }

  /** Begins, or finds the unfinished upload of the same file. */
  async function begin(file, { signal, headers, progress }) {
    const body = new URLSearchParams({ size: file.size, key: fileKey(file) });
    const result = resultOf(await send('POST', PARTS_PATH, { signal, headers, body }));
    if (result.answer) progress.restart(result.answer.received);
    return result;
  }

  async function sendPart(file, upload, { signal, headers, progress }) {
    const { id, received, part_max: partMax } = upload;
    const body = file.slice(received, received + partMax);
    const response = await send('PATCH', `${PARTS_PATH}/${id}`, {
      signal,
      body,
      headers: { ...headers, 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': received },
      onProgress: (loaded) => progress.show(received + Math.min(loaded, body.size)),
    });
    // Another tab sent a part or discarded the upload, or it expired: ask where to continue.
    if (response.status === 404 || response.status === 409) return {};
    const result = resultOf(response);
    return result.answer ? { answer: { ...upload, ...result.answer } } : result;
  }

  const wait = (ms, signal) =>
    new Promise((resolve) => {
      setTimeout(resolve, ms);
      addEventListener('online', resolve, { once: true });
      signal.addEventListener('abort', resolve, { once: true });
    });

  /**
   * Sends the file. Returns the id of the upload, or null after a cancellation. Throws the reason, in words,
   * why it cannot continue.
   */
  async function sendParts(file, context) {
    const { signal, progress } = context;
    let [upload, retries, reached] = [null, 0, 0];
    while (upload?.received !== file.size) {
      const { answer, refusal } = upload ? await sendPart(file, upload, context) : await begin(file, context);
      if (signal.aborted) return null;
      if (refusal) throw new Error(refusal);
      upload = answer ?? null;
      if (upload) {
        context.id = upload.id;
        if (upload.received > reached) retries = 0;
        reached = Math.max(reached, upload.received);
        continue;
      }
      retries += 1;
      const lost = `The connection was lost after ${formatBytes(reached)}.`;
      if (retries > RETRIES_MAX) throw new Error(`${lost} Upload the file again to continue from there.`);
      progress.announce(`${lost} Trying again.`);
      await wait(Math.min(1000 * 2 ** (retries - 1), RETRY_MAX_MS), signal);
      if (signal.aborted) return null;
    }
    return upload.id;
  }

  /** Sends the form's other fields. Its key makes another attempt harmless. */
  async function finish(form, id, { signal, progress }) {
    const body = new FormData(form);
    body.delete('file');
    body.append('upload', id);
    for (let retries = 0; ; retries += 1) {
      const response = await send('POST', form.action, { signal, body });
      const isBusy = response.status === 0 || response.status >= 502;
      if (!isBusy) return response;
      if (retries === RETRIES_MAX) throw new Error('The connection was lost. Upload again to continue.');
      progress.announce('The connection was lost. Trying again.');
      await wait(Math.min(1000 * 2 ** retries, RETRY_MAX_MS), signal);
    }
  }

  /** Submits the page's form that discards an upload. */
  async function discard(form, id) {
    const body = new FormData();
    for (const name of ['_token', '_form', '_once']) body.append(name, form.elements[name].value);
    body.set('_form', 'discard');
    body.append('key', id);
    await fetch(form.action, { method: 'POST', body }).catch(() => undefined);
  }

  function showPage({ status, responseURL, responseText }) {
    const page = new DOMParser().parseFromString(responseText, 'text/html');
    const content = page.querySelector('#content');
    if (status < 400 || !content) return location.assign(responseURL);
    // Refused: the page says why.
    document.querySelector('#content').replaceWith(document.importNode(content, true));
    const problem = document.querySelector('#content .banner.fault, #content .problem');
    problem?.scrollIntoView({ block: 'center' });
  }

  function showProblem(form, message) {
    const problem = document.createElement('p');
    problem.className = 'problem lost';
    problem.setAttribute('role', 'alert');
    problem.textContent = message;
    form.append(problem);
  }

  const warn = (event) => event.preventDefault();

  async function upload(form) {
    const file = form.elements.file.files[0];
    const progress = createProgress(form, file.size);
    const stopping = new AbortController();
    const headers = { 'X-CSRF-Token': form.elements._token.value };
    const context = { signal: stopping.signal, headers, progress };
    form.querySelector('.lost')?.remove();
    progress.cancel.addEventListener('click', () => stopping.abort());
    addEventListener('beforeunload', warn);
    let response = null;
    let reason = '';
    try {
      const id = await sendParts(file, context);
      if (id) {
        progress.bar.value = 1;
        progress.cancel.remove();
        progress.announce(`${formatBytes(file.size)} uploaded. Checking the file.`);
        response = await finish(form, id, context);
      } else if (context.id) await discard(form, context.id);
    } catch (error) {
      reason = error.message;
    }
    removeEventListener('beforeunload', warn);
    progress.box.remove();
    delete form.dataset.sent;
    for (const button of form.querySelectorAll('button')) button.removeAttribute('aria-disabled');
    if (response) showPage(response);
    else if (reason) showProblem(form, reason);
  }

  // `enhance.js` has prevented a second click.
  document.addEventListener('submit', (event) => {
    const form = event.target;
    const isChosen = form.enctype === 'multipart/form-data' && form.elements.file?.files[0]?.size > 0;
    if (event.defaultPrevented || !isChosen) return;
    event.preventDefault();
    upload(form);
  });

  // Say that an upload continues, when its file is chosen again.
  document.addEventListener('change', ({ target }) => {
    if (target.type !== 'file' || !target.files[0]) return;
    const key = fileKey(target.files[0]);
    const isUnfinished = document.querySelector(`[data-upload="${key}"]`) !== null;
    const button = target.form.querySelector('button:not([type])');
    button.textContent = isUnfinished ? 'Resume upload' : 'Upload image';
  });
}

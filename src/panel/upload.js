// Uploads with progress: bytes, speed, and time left. Without it, the form is sent as usual.
{
  const SPEED_OVER_MS = 5_000;
  const SHOW_EVERY_MS = 200;
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

  function createProgress(form) {
    const box = document.createElement('div');
    box.className = 'upload';
    box.innerHTML = `<progress max="1" value="0" aria-label="Upload"></progress> <span></span>
<button type="button" class="quiet">Cancel upload</button><p class="unseen" role="status"></p>`;
    form.append(box);
    const [bar, text, cancel, status] = box.children;
    return { box, bar, text, cancel, status };
  }

  const warn = (event) => event.preventDefault();

  function upload(form) {
    const total = form.elements.file.files[0].size;
    const { box, bar, text, cancel, status } = createProgress(form);
    const request = new XMLHttpRequest();
    const samples = [{ at: performance.now(), sent: 0 }];
    let shownAt = 0;
    let announced = 0;
    form.querySelector('.lost')?.remove();

    request.upload.addEventListener('progress', ({ loaded }) => {
      const at = performance.now();
      const sent = Math.min(loaded, total);
      samples.push({ at, sent });
      while (samples.length > 2 && at - samples[0].at > SPEED_OVER_MS) samples.shift();
      if (at - shownAt < SHOW_EVERY_MS) return;
      shownAt = at;
      const speed = speedOf(samples);
      const facts = [`${formatBytes(sent)} of ${formatBytes(total)}`];
      if (speed) facts.push(`${formatBytes(speed)}/s`, formatLeft((total - sent) / speed));
      bar.value = total === 0 ? 0 : sent / total;
      text.textContent = facts.join(' · ');
      // A screen reader hears each tenth.
      const tenth = Math.floor(bar.value * 10);
      if (tenth > announced) status.textContent = `${tenth * 10}% uploaded`;
      announced = Math.max(tenth, announced);
    });
    request.upload.addEventListener('load', () => {
      bar.value = 1;
      text.textContent = `${formatBytes(total)} uploaded. Checking the file.`;
      status.textContent = text.textContent;
      cancel.remove();
    });

    function stop(message) {
      removeEventListener('beforeunload', warn);
      box.remove();
      delete form.dataset.sent;
      for (const button of form.querySelectorAll('button')) button.removeAttribute('aria-disabled');
      if (!message) return;
      const problem = document.createElement('p');
      problem.className = 'problem lost';
      problem.setAttribute('role', 'alert');
      problem.textContent = message;
      form.append(problem);
    }

    request.addEventListener('load', () => {
      const page = new DOMParser().parseFromString(request.responseText, 'text/html');
      const content = page.querySelector('#content');
      if (request.status < 400 || !content) {
        stop();
        location.assign(request.responseURL);
        return;
      }
      // Refused: the page says why.
      stop();
      document.querySelector('#content').replaceWith(document.importNode(content, true));
      const problem = document.querySelector('#content .banner.fault, #content .problem');
      problem?.scrollIntoView({ block: 'center' });
    });
    request.addEventListener('error', () => {
      const { sent } = samples.at(-1);
      stop(`The connection was lost after ${formatBytes(sent)}. Check your connection, then upload again.`);
    });
    request.addEventListener('abort', () => stop());
    cancel.addEventListener('click', () => request.abort());
    addEventListener('beforeunload', warn);
    request.open('POST', form.action);
    request.send(new FormData(form));
  }

  // `enhance.js` has prevented a second click.
  document.addEventListener('submit', (event) => {
    const form = event.target;
    const hasFile = form.enctype === 'multipart/form-data' && form.elements.file?.files.length > 0;
    if (event.defaultPrevented || !hasFile) return;
    event.preventDefault();
    upload(form);
  });
}

// Optional enhancements for browsers with scripts: no double submits, copy buttons, and totals that update.

// Submit a form once. Its key already makes a second click harmless; this shows that the first one counted.
document.addEventListener('submit', (event) => {
  const form = event.target;
  if (form.method !== 'post') return;
  if (form.dataset.sent) return event.preventDefault();
  form.dataset.sent = 'yes';
  for (const button of form.querySelectorAll('button')) button.setAttribute('aria-disabled', 'true');
});

// A page restored from the browser's cache can be submitted again.
addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[data-sent]')) {
    delete form.dataset.sent;
    for (const button of form.querySelectorAll('button')) button.removeAttribute('aria-disabled');
  }
});

// Add a copy button next to text to copy.
function addCopyButtons(root) {
  if (!navigator.clipboard) return;
  for (const code of root.querySelectorAll('[data-copy]')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'quiet copy-button';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = 'Copied';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 2000);
    });
    code.after(button);
  }
}
addCopyButtons(document);
document.addEventListener('part-replaced', ({ detail }) => addCopyButtons(detail));

// A link or button that shows plain text copies it instead: without scripts, its page is copied by hand.
function copyResults(root) {
  if (!navigator.clipboard) return;
  for (const shows of root.querySelectorAll('[data-copies]')) {
    const name = shows.textContent;
    shows.addEventListener('click', async (event) => {
      event.preventDefault();
      const query = shows.form && new URLSearchParams(new FormData(shows.form, shows));
      const path = query ? `${shows.formAction}?${query}` : shows.href;
      try {
        const response = await fetch(path);
        const isText = response.ok && response.headers.get('content-type')?.startsWith('text/plain');
        if (!isText) throw new TypeError('the session has ended');
        const text = await response.text();
        const count = /^[\d.]+$/m.test(text) ? text.trim().split('\n').length : 0;
        if (count > 0) await navigator.clipboard.writeText(text);
        shows.textContent = count > 0 ? `Copied ${count}` : text.trim();
      } catch {
        location.assign(path);
        return;
      }
      setTimeout(() => {
        shows.textContent = name;
      }, 2000);
    });
  }
}
copyResults(document);
document.addEventListener('part-replaced', ({ detail }) => copyResults(detail));

// `<form data-live="#total">`: when a choice changes, refetch those elements with the choices in the query.
for (const form of document.querySelectorAll('form[data-live]')) {
  let latest = 0;
  const isChoice = ([name, value]) =>
    !name.startsWith('_') &&
    typeof value === 'string' &&
    !['password', 'textarea'].includes(form.elements[name]?.type);
  const update = async () => {
    latest += 1;
    const current = latest;
    const choices = [...new FormData(form)].filter(isChoice);
    const response = await fetch(`${location.pathname}?${new URLSearchParams(choices)}`).catch(() => null);
    if (!response?.ok || current !== latest) return;
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    const fresh = page.querySelectorAll(form.dataset.live);
    document.querySelectorAll(form.dataset.live).forEach((element, index) => {
      if (fresh[index]) element.replaceWith(fresh[index]);
    });
  };
  form.addEventListener('change', update);
  // An amount: while it is typed.
  let typing;
  form.addEventListener('input', ({ target }) => {
    if (target.inputMode !== 'decimal') return;
    clearTimeout(typing);
    typing = setTimeout(update, 300);
  });
}

// `<time data-until="…">`: count down the remaining time between page loads.
setInterval(() => {
  for (const element of document.querySelectorAll('[data-until]')) {
    const left = Math.max(0, Math.round((Date.parse(element.dataset.until) - Date.now()) / 1000));
    element.textContent = `${Math.floor(left / 60)} min ${String(left % 60).padStart(2, '0')} s`;
  }
}, 1000);

// Keyboard shortcuts for signed-in pages. The search page lists them.
const search = document.querySelector('.find input[type=search]');
// The customer can turn off those of one character.
const areShortcutsOff = document.body.dataset.shortcuts === 'off';
const GO_TO = { s: '/servers', v: '/volumes', f: '/firewall', b: '/billing', a: '/account' };
// When `g` was pressed: the second key follows within a second.
let pressedG = -1000;
// Leaving a form that someone fills in would lose it.
let isFillingIn = false;
addEventListener('input', ({ target }) => {
  if (target.form?.method === 'post' && target.form.role !== 'search') isFillingIn = true;
});
addEventListener('keydown', (event) => {
  if (!search || event.altKey || event.metaKey || event.isComposing) return;
  if (areShortcutsOff && !event.ctrlKey) return;
  const isTyping = event.target.matches('input, textarea, select, [contenteditable]');
  const isSearch = event.ctrlKey ? event.key === 'k' : !isTyping && event.key === '/';
  const follows = event.timeStamp - pressedG < 1000 && !isTyping && !event.ctrlKey;
  pressedG = !isTyping && !event.ctrlKey && event.key === 'g' ? event.timeStamp : -1000;
  if (isSearch) {
    event.preventDefault();
    search.focus();
    search.select();
  } else if (isTyping || event.ctrlKey || isFillingIn) {
    return;
  } else if (follows && GO_TO[event.key]) {
    location.assign(GO_TO[event.key]);
  } else if (event.key === 'n') {
    location.assign('/servers/new');
  } else if (event.key === '?') {
    location.assign('/search#shortcuts');
  }
});

// A time is shown in UTC. Pointing at it, tapping it, or focusing it tells how long ago it was, and the
// visitor's own time. Times in tables take no focus: each would be a stop for the Tab key.
const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];
function describeTime(time) {
  const then = new Date(time.dateTime);
  const seconds = (then - Date.now()) / 1000;
  const [unit, size] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1];
  const relative = new Intl.RelativeTimeFormat('en-US', { numeric: 'auto' });
  const local = then.toLocaleString('en-US', { dateStyle: 'medium', timeStyle: 'long' });
  return `${relative.format(Math.round(seconds / size), unit)}: ${local}`;
}
const timeOf = ({ target }) => target.closest?.('time[datetime*=T]');
document.addEventListener('pointerover', (event) => {
  const time = timeOf(event);
  if (time) time.title = describeTime(time);
});
const hint = document.createElement('output');
hint.className = 'time-hint';
hint.hidden = true;
document.body.append(hint);
for (const kind of ['click', 'focusin']) {
  document.addEventListener(kind, (event) => {
    const time = timeOf(event);
    hint.hidden = !time;
    hint.textContent = time ? describeTime(time) : '';
  });
}
function makeTimesFocusable(root) {
  for (const time of root.querySelectorAll('time[datetime*=T]'))
    if (!time.closest('table')) time.tabIndex = 0;
}
makeTimesFocusable(document);
document.addEventListener('part-replaced', ({ detail }) => makeTimesFocusable(detail));

// What is pleasant with scripts and not needed without: no second click, copying, totals that follow a choice.

// A form is sent once. The key that it carries makes a second click harmless anyway; this shows that the first one counted.
document.addEventListener('submit', (event) => {
  const form = event.target;
  if (form.method !== 'post') return;
  if (form.dataset.sent) return event.preventDefault();
  form.dataset.sent = 'yes';
  for (const button of form.querySelectorAll('button')) button.setAttribute('aria-disabled', 'true');
});

// A page that comes back from the browser's memory can be sent again.
addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[data-sent]')) {
    delete form.dataset.sent;
    for (const button of form.querySelectorAll('button')) button.removeAttribute('aria-disabled');
  }
});

// A button beside what may be copied.
for (const code of document.querySelectorAll('[data-copy]')) {
  if (!navigator.clipboard) break;
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

// `<form data-live="#total">`: when a choice changes, those parts of the page are fetched anew with the choices in the query.
for (const form of document.querySelectorAll('form[data-live]')) {
  let asked = 0;
  form.addEventListener('change', async () => {
    asked += 1;
    const mine = asked;
    const fields = [...new FormData(form)].filter(([name, value]) => !name.startsWith('_') && typeof value === 'string');
    const choices = fields.filter(([name]) => form.elements[name]?.type !== 'password' && form.elements[name]?.type !== 'textarea');
    const answer = await fetch(`${location.pathname}?${new URLSearchParams(choices)}`).catch(() => null);
    if (!answer?.ok || mine !== asked) return;
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const fresh = page.querySelectorAll(form.dataset.live);
    document.querySelectorAll(form.dataset.live).forEach((element, index) => {
      if (fresh[index]) element.replaceWith(fresh[index]);
    });
  });
}

// `<time data-until="…">`: how long there is, counted down between two loads of the page.
const untils = [...document.querySelectorAll('[data-until]')];
if (untils.length > 0) {
  setInterval(() => {
    for (const element of untils) {
      const left = Math.max(0, Math.round((Date.parse(element.dataset.until) - Date.now()) / 1000));
      element.textContent = `${Math.floor(left / 60)} min ${String(left % 60).padStart(2, '0')} s`;
    }
  }, 1000);
}

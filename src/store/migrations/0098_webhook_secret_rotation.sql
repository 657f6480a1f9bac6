-- Compatible: the previous version signs with the current secret only, and ignores the new columns.

-- The secret that replaces the current one when its customer ends the rotation. Until then it signs, too.
alter table webhooks
  add column next_secret_sealed text,
  add column next_secret_hint text check ((next_secret_hint is null) = (next_secret_sealed is null));

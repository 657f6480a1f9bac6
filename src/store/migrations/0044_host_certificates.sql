-- The control plane's authority, and the certificates that it issued to the control plane itself. The newest
-- is used. Hosts that joined earlier know the self-signed one.
alter table control_plane_identities
  add column role text not null default 'self-signed'
    check (role in ('self-signed', 'authority', 'control plane'));
create unique index one_authority on control_plane_identities (role) where role = 'authority';

alter table backends
  -- What its certificates name. A host that is invited again gets another one, so that no certificate from
  -- before is accepted. Null: it has none of the authority yet.
  add column identity uuid unique,
  -- When its latest certificate begins and ends. Null: it is self-signed.
  add column certificate_from timestamptz,
  add column certificate_until timestamptz,
  -- When it is renewed. Null: at once.
  add column renew_at timestamptz,
  -- Consecutive ones.
  add column renewal_failures integer not null default 0;

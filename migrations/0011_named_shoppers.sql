-- Shoppers whom a web shop names.

alter table account add column names_shoppers boolean not null default false;
comment on column account.names_shoppers is
  'Whether X-Shopper-Address counts of it: all shoppers of a web shop come from one address, and wrong PINs are counted by address.';

-- What a service has chosen of its back office: how often each feed is pulled, and what the back office knows payment gateways by.
alter table back_office
  -- Seconds by the name of a feed, where it is not as often as by itself: {"stock": 60}.
  add column every jsonb not null default '{}',
  -- By the names of `GET /payment-gateways`: {"paypal": {"merchantId": "LUMA-PP", "cardType": "PP"}}.
  add column gateways jsonb not null default '{}';

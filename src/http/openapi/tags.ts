/** What each tag is about. */
export const tagDescriptions = {
  Stores: 'Where the retailer sells: addresses, and the e-commerce locations that stores are mapped to.',
  Staff: 'Who works in the stores.',
  Inventory: 'What each store has, and how much of it may be sold online.',
  Products: 'What is sold: styles, their colours, and the sizes with prices and barcodes.',
  Customers: 'Who buys, with what they have agreed to be told.',
  'Retail transactions': 'What was sold and returned, in stores, by the head office and on the web.',
  Orders: 'What shoppers buy on the web: placing an order, and how far it has come.',
  Returns: 'What comes back of an order, why, and what is refunded.',
  Rewards: 'Loyalty programmes, and the points, rewards and gifts of their members.',
  'Gift vouchers': "What a shopper's gift voucher is still worth.",
  'Payment gateways': 'The ways to pay that the back office knows.',
  Privacy: 'What is kept of a person, and having it erased.',
  Changes: 'What has changed, of every kind of record, for whoever keeps a copy or acts on it.',
  Webhooks: 'Endpoints of yours that are told what has changed, signed as Standard Webhooks has it.',
  Feeds: 'How fresh the data is: what is pulled from a back office or comes as files, and what became of each run.',
  Imports: 'Files of rows that are taken in, and what became of their lines.',
  Alerts: 'What somebody has to look at, with the way out.',
  Figures: 'The day in numbers: requests, orders, sales, vouchers that are owed for, and how old the data is.',
  Requests: 'The log of requests: what was asked, by whom, what became of it, and what it took time for.',
  Accounts: 'Who may use this service, and as what.',
  Mappings: 'What stores, SKUs and customers are in the e-commerce platform.',
  Service: 'What this service can do, and how it is set.',
  Audit: 'Who wrote what, and when.',
  'Health and documentation': 'For load balancers, developers and browsers; without credentials.',
}

/** What resources are listed under. */
export type Tag = keyof typeof tagDescriptions

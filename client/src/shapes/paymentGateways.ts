// Made of the operations of the API by `npm run docs`.

/** The name of a payment gateway. */
export type PaymentGateway = string

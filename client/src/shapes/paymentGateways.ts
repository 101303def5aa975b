// Generated from the OpenAPI document by `npm run docs`.

/** The name of a payment gateway. */
export type PaymentGateway = string

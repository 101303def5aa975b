// Generated from the OpenAPI document by `npm run docs`.
import type { Address } from './orders.ts'

export interface CustomerInput {
  /** First name. */
  firstname: string
  /** Surname. */
  surname: string
  contact: {
    /** The email address. Unique in the service, ignoring case. */
    email: string
    phones?: PhonesInput | null | undefined
  }
  /** Title. */
  title?: string | null | undefined
  /** The same field as `contact.phones.mobile`. */
  mobile?: string | null | undefined
  /** Date of birth, from 1900-01-01 to today. */
  dateOfBirth?: string | null | undefined
  /** The inverse of consent to marketing. True ends both subscriptions. If the same body sets a subscription, `privacy` becomes false. */
  privacy?: boolean | null | undefined
  /** True if the customer has subscribed to emails. */
  emailSubscription?: boolean | null | undefined
  /** True if the customer has subscribed to text messages. */
  smsSubscription?: boolean | null | undefined
  address?: AddressInput | null | undefined
  /** References by the name of their type: the ID of the value, or an object from a response. References of a subscription must match its flag. */
  references?: Record<string, string | ChosenReference | null> | null | undefined
  /** The customer's ID in the e-commerce platform, admin form. */
  ecommerceAdminId?: string | null | undefined
  /** The customer's ID in the e-commerce platform, legacy form. */
  ecommerceLegacyId?: string | null | undefined
}

export interface PhonesInput {
  /** Home telephone number: 3 to 20 digits, with spaces, `+`, `-`, `(`, `)`, `.` and `/` between them. Typographic spaces and hyphens are stored as plain ones. */
  home?: string | null | undefined
  /** Mobile telephone number: 3 to 20 digits, with spaces, `+`, `-`, `(`, `)`, `.` and `/` between them. Typographic spaces and hyphens are stored as plain ones. */
  mobile?: string | null | undefined
  /** Work telephone number: 3 to 20 digits, with spaces, `+`, `-`, `(`, `)`, `.` and `/` between them. Typographic spaces and hyphens are stored as plain ones. */
  work?: string | null | undefined
}

export interface AddressInput {
  /** Street and number. */
  addressLine1?: string | null | undefined
  /** Floor, unit or building. */
  addressLine2?: string | null | undefined
  /** City or suburb. */
  city?: string | null | undefined
  /** State, province or county. */
  state?: string | null | undefined
  /** Post code. */
  postcode?: string | null | undefined
  /** Country. */
  country?: string | null | undefined
}

/** A reference from a response. `code` and `name` must be those of the value. */
export interface ChosenReference {
  /** The ID of a value in the reference cache. */
  referenceValueId: string
  /** The code of the value. */
  code?: string | null | undefined
  /** The name of the value. */
  name?: string | null | undefined
}

export interface CustomerChange {
  /** First name. */
  firstname?: string | null | undefined
  /** Surname. */
  surname?: string | null | undefined
  contact?: {
    /** The email address. Unique in the service, ignoring case. */
    email?: string | null | undefined
    phones?: PhonesInput | null | undefined
  } | undefined
  /** Title. */
  title?: string | null | undefined
  /** The same field as `contact.phones.mobile`. */
  mobile?: string | null | undefined
  /** Date of birth, from 1900-01-01 to today. */
  dateOfBirth?: string | null | undefined
  /** The inverse of consent to marketing. True ends both subscriptions. If the same body sets a subscription, `privacy` becomes false. */
  privacy?: boolean | null | undefined
  /** True if the customer has subscribed to emails. */
  emailSubscription?: boolean | null | undefined
  /** True if the customer has subscribed to text messages. */
  smsSubscription?: boolean | null | undefined
  address?: AddressInput | null | undefined
  /** References by the name of their type: the ID of the value, or an object from a response. References of a subscription must match its flag. */
  references?: Record<string, string | ChosenReference | null> | null | undefined
  /** The customer's ID in the e-commerce platform, admin form. */
  ecommerceAdminId?: string | null | undefined
  /** The customer's ID in the e-commerce platform, legacy form. */
  ecommerceLegacyId?: string | null | undefined
  /** The back office's ID of the customer. */
  id?: string | undefined
  /** The code of the customer in the back office. */
  code?: string | null | undefined
  /** When the customer joined. */
  startDate?: string | null | undefined
  /** The code of the customer's loyalty program. */
  loyaltyCode?: string | null | undefined
  /** The name of the customer's loyalty program. */
  loyaltyName?: string | null | undefined
  /** The ID of the store in which the customer signed up. */
  joinedStoreId?: string | null | undefined
  /** The code of the store in which the customer signed up. */
  joinedStoreCode?: string | null | undefined
}

export interface Customer {
  /** The back office's ID of the customer. */
  id: string
  /** The code of the customer in the back office. */
  code: string | null
  /** Title. */
  title: string | null
  /** First name. */
  firstname: string | null
  /** Surname. */
  surname: string | null
  /** Date of birth. */
  dateOfBirth: string | null
  /** When the customer joined. */
  startDate: string | null
  /** The inverse of consent to marketing: true if the customer wants no marketing. */
  privacy: boolean
  /** True if the customer has subscribed to emails. */
  emailSubscription: boolean
  /** True if the customer has subscribed to text messages. */
  smsSubscription: boolean
  contact: CustomerContact
  address: Address
  /** References by the name of their type, in camelCase. */
  references: Record<string, Reference>
  /** The code of the customer's loyalty program. */
  loyaltyCode: string | null
  /** The name of the customer's loyalty program. */
  loyaltyName: string | null
  /** The ID of the store in which the customer signed up. */
  joinedStoreId: string | null
  /** The code of the store in which the customer signed up. */
  joinedStoreCode: string | null
  /** When the record last changed. */
  updateTimeStamp: string
  /** The customer's ID in the e-commerce platform, admin form. Absent in `GET /customers?updated_after=`. */
  ecommerceAdminId?: string | null
  /** The customer's ID in the e-commerce platform, legacy form. Absent in `GET /customers?updated_after=`. */
  ecommerceLegacyId?: string | null
}

export interface CustomerContact {
  /** The email address. Unique in the service, ignoring case. */
  email: string | null
  phones: CustomerPhones
}

export interface CustomerPhones {
  /** Home telephone number. */
  home: string | null
  /** Mobile telephone number. */
  mobile: string | null
  /** Work telephone number. */
  work: string | null
}

export interface Reference {
  /** The code of the value. */
  code: string | null
  /** The name of the value. */
  name: string | null
  /** The ID of the value in the back office. */
  referenceValueId: string
}

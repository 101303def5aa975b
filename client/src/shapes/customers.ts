// Made of the operations of the API by `npm run docs`.

export interface CustomerInput {
  /** First name. */
  firstname: string
  /** Surname. */
  surname: string
  contact: {
    /** E-mail address; unique in the service, whatever its case. */
    email: string
    phones?: PhonesInput | null | undefined
  }
  /** Title. */
  title?: string | null | undefined
  /** Mobile telephone number, short for `contact.phones.mobile`: 3 to 20 digits, with spaces, `+`, `-`, `(`, `)`, `.` and `/` between them. */
  mobile?: string | null | undefined
  /** Date of birth, from 1900-01-01 to today. */
  dateOfBirth?: string | null | undefined
  /** The inverse of the accept-marketing status: true when the customer wants no marketing, which ends both subscriptions. A subscription that the same body sets is consent to marketing, and makes it false. */
  privacy?: boolean | null | undefined
  /** Whether the customer takes e-mails. */
  emailSubscription?: boolean | null | undefined
  /** Whether the customer takes text messages. */
  smsSubscription?: boolean | null | undefined
  address?: AddressInput | null | undefined
  /** References by the name of their type: the identifier of the value, or an object as answers have it. Those that stand for a subscription follow its flag. */
  references?: Record<string, string | ChosenReference | null> | null | undefined
  /** The customer's identifier in the e-commerce platform, admin form. */
  ecommerceAdminId?: string | null | undefined
  /** The customer's identifier in the e-commerce platform, legacy form. */
  ecommerceLegacyId?: string | null | undefined
}

export interface PhonesInput {
  /** Home telephone number: 3 to 20 digits, with spaces, `+`, `-`, `(`, `)`, `.` and `/` between them. */
  home?: string | null | undefined
  /** Mobile telephone number: 3 to 20 digits, with spaces, `+`, `-`, `(`, `)`, `.` and `/` between them. */
  mobile?: string | null | undefined
  /** Work telephone number: 3 to 20 digits, with spaces, `+`, `-`, `(`, `)`, `.` and `/` between them. */
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

/** As answers have it; `code` and `name` have to be those of the value. */
export interface ChosenReference {
  /** The identifier of a value that the reference cache knows. */
  referenceValueId: string
  /** Its code. */
  code?: string | null | undefined
  /** What it says. */
  name?: string | null | undefined
}

export interface CustomerChange {
  /** First name. */
  firstname?: string | null | undefined
  /** Surname. */
  surname?: string | null | undefined
  contact?: {
    /** E-mail address; unique in the service, whatever its case. */
    email?: string | null | undefined
    phones?: PhonesInput | null | undefined
  } | undefined
  /** Title. */
  title?: string | null | undefined
  /** Mobile telephone number, short for `contact.phones.mobile`: 3 to 20 digits, with spaces, `+`, `-`, `(`, `)`, `.` and `/` between them. */
  mobile?: string | null | undefined
  /** Date of birth, from 1900-01-01 to today. */
  dateOfBirth?: string | null | undefined
  /** The inverse of the accept-marketing status: true when the customer wants no marketing, which ends both subscriptions. A subscription that the same body sets is consent to marketing, and makes it false. */
  privacy?: boolean | null | undefined
  /** Whether the customer takes e-mails. */
  emailSubscription?: boolean | null | undefined
  /** Whether the customer takes text messages. */
  smsSubscription?: boolean | null | undefined
  address?: AddressInput | null | undefined
  /** References by the name of their type: the identifier of the value, or an object as answers have it. Those that stand for a subscription follow its flag. */
  references?: Record<string, string | ChosenReference | null> | null | undefined
  /** The customer's identifier in the e-commerce platform, admin form. */
  ecommerceAdminId?: string | null | undefined
  /** The customer's identifier in the e-commerce platform, legacy form. */
  ecommerceLegacyId?: string | null | undefined
  /** The back office's identifier of the customer. */
  id?: string | undefined
  /** The code of the customer in the back office. */
  code?: string | null | undefined
  /** When the customer joined. */
  startDate?: string | null | undefined
  /** The code of the loyalty programme the customer is in. */
  loyaltyCode?: string | null | undefined
  /** The name of that loyalty programme. */
  loyaltyName?: string | null | undefined
  /** The store the customer signed up in. */
  joinedStoreId?: string | null | undefined
  /** The code of that store. */
  joinedStoreCode?: string | null | undefined
}

export interface Customer {
  /** The back office's identifier of the customer. */
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
  /** The inverse of the accept-marketing status: true when the customer wants no marketing. */
  privacy: boolean
  /** Whether the customer takes e-mails. */
  emailSubscription: boolean
  /** Whether the customer takes text messages. */
  smsSubscription: boolean
  contact: CustomerContact
  address: Address
  /** References by the name of their type, in camelCase. */
  references: Record<string, Reference>
  /** The code of the loyalty programme the customer is in. */
  loyaltyCode: string | null
  /** The name of that loyalty programme. */
  loyaltyName: string | null
  /** The store the customer signed up in. */
  joinedStoreId: string | null
  /** The code of that store. */
  joinedStoreCode: string | null
  /** When the record last changed. */
  updateTimeStamp: string
  /** The customer's identifier in the e-commerce platform, admin form. Absent when `updated_after` is used on `/customers`. */
  ecommerceAdminId?: string | null
  /** The same in the legacy form. Absent under the same condition. */
  ecommerceLegacyId?: string | null
}

export interface CustomerContact {
  /** E-mail address; unique in the service, whatever its case. */
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

export interface Address {
  /** Street and number. */
  addressLine1: string | null
  /** Floor, unit or building. */
  addressLine2: string | null
  /** City or suburb. */
  city: string | null
  /** State, province or county. */
  state: string | null
  /** Post code. */
  postcode: string | null
  /** Country. */
  country: string | null
}

export interface Reference {
  /** The code of the value. */
  code: string | null
  /** What the value says. */
  name: string | null
  /** The identifier of the value in the back office. */
  referenceValueId: string
}

/** Who may ask for a service, and has asked: kept in the control database, wherever the service is. */
export const tablesOfAccounts = ['account', 'account_password', 'account_service', 'account_use']

/** What of a service that is elsewhere is nowhere but in the control database. */
export const tablesOfControl = [...tablesOfAccounts, 'service', 'service_move']

/**
 * What stays there of a service that has left: accounts are written there for ever. Answers about them go with all others within a day, and
 * lines about them wait in the audit for being handed on.
 */
export const tablesThatStay = [...tablesOfControl, 'audit', 'idempotent_response']

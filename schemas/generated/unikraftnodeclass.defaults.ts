// Made by `npm run generate` from schemas/nodeclass/unikraftnodeclass.schema.yaml; do not edit.

export const specDefaults = {
  properties: {
    aws: {
      properties: {
        capacityReservationPreference: {
          default: "open"
        },
        blockDevices: {
          items: {
            properties: {
              volumeType: {
                default: "gp3"
              },
              encrypted: {
                default: true
              }
            }
          }
        }
      }
    },
    platform: {
      default: {},
      properties: {
        overhead: {
          default: {},
          properties: {
            vcpus: {
              default: 2
            },
            memory: {
              default: "4Gi"
            }
          }
        },
        capacity: {
          default: {},
          properties: {
            volumeStorage: {
              default: "0"
            },
            instances: {
              default: 1000
            }
          }
        },
        activationSecretRef: {
          properties: {
            key: {
              default: "token"
            }
          }
        },
        advertiseStorage: {
          default: false
        },
        port: {
          default: 443
        }
      }
    },
    bootstrap: {
      default: {},
      properties: {
        mode: {
          default: "UserData"
        }
      }
    },
    dns: {
      properties: {
        tsig: {
          properties: {
            algorithm: {
              default: "hmac-sha256"
            }
          }
        },
        nameTemplate: {
          default: "api.{{node}}.{{zone}}"
        },
        addressType: {
          default: "Internal"
        },
        ttl: {
          default: 60
        }
      }
    },
    certificate: {
      properties: {
        api: {
          properties: {
            issuerRef: {
              properties: {
                kind: {
                  default: "ClusterIssuer"
                },
                group: {
                  default: "cert-manager.io"
                }
              }
            },
            acme: {
              properties: {
                certificatesPerWeek: {
                  default: 50
                }
              }
            }
          }
        }
      }
    },
    kraftlet: {
      properties: {
        namespace: {
          default: "kraftlet"
        }
      }
    },
    deadlines: {
      default: {},
      properties: {
        launch: {
          default: "5m"
        },
        healthy: {
          default: "20m"
        },
        registration: {
          default: "10m"
        }
      }
    }
  }
};

# What make reads in the container before the Makefile: the Dockerfile names it in MAKEFILES.
# The reader sits at another machine: there is no browser to open here, and in a codespace the
# book is reached by the address of a forwarded port, which the server has to know.
# The port that devcontainer.json forwards.
PORT ?= 8000
book serve: SERVE += --no-open
ifdef CODESPACE_NAME
DOMAIN := $(GITHUB_CODESPACES_PORT_FORWARDING_DOMAIN)
book serve: SERVE += --origin https://$(CODESPACE_NAME)-$(PORT).$(DOMAIN)
endif
